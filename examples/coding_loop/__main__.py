"""The story of a repair, pass by pass."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from examples.coding_loop import tools
from examples.coding_loop.loop import work
from examples.coding_loop.model import SCRIPT, ScriptedModel
from examples.coding_loop.project import lay_out
from handrail import ApprovalRequest, Handrail, Principal
from handrail.ext.guard import Reply, approve

CODER = Principal(tenant="acme", user="ana", agent="coder")
TASK = "The tests of this project fail. Find out why, and repair it."


async def reviewer(request: ApprovalRequest) -> Reply:
    """Ana, who happens to agree; a real approver would ask her."""
    print(f"  Ana is asked: may {request.principal.agent} run {request.tool} on {request.args['path']}?")
    print(f"    - {request.args['old']}")
    print(f"    + {request.args['new']}")
    print("  She agrees.")
    return approve(by="ana")


async def main() -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        lay_out(folder)
        model = ScriptedModel(SCRIPT)
        async with Handrail(
            [tools], approver=reviewer, create_context=lambda tool, call_id: {"folder": folder}
        ) as hr:
            print(f"The task: {TASK}")
            print(f"The tools: {', '.join(tool.id for tool in await hr.tools(CODER))}")
            ended = await work(hr, model, TASK, CODER, "repair", print)
        print(f"\nThe loop ends: {ended}")
        print("\nprices.py is now:")
        for line in (folder / "prices.py").read_text(encoding="utf-8").splitlines():
            print(f"  {line}")


if __name__ == "__main__":
    try:
        asyncio.run(main())
        sys.stdout.flush()
    except BrokenPipeError:  # `| head` is no failure, and the temporary folder is gone by now
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
