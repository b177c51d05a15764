"""Three agents with policies from a file, and sub-agents that get no more than those above them."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

from examples.agent_policy import tools
from handrail import Handrail, Outcome, Policy, Principal, load_policies

POLICIES = load_policies(Path(__file__).with_name("agents.yaml"))
ANA = Principal(tenant="acme", user="ana")
EDITOR = ANA.spawn("editor")
HELPER = EDITOR.spawn("researcher")


async def main() -> None:
    print("The agents of agents.yaml, and the tools that each of them sees:")
    for name, policy in POLICIES.items():
        await listed(name, ANA.spawn(name), policy)

    print("\n1. The editor calls what its list allows")
    await play(POLICIES["editor"], EDITOR, "file_read", {"path": "plan.txt"})

    print("\n2. It calls what its list does not name")
    await play(POLICIES["editor"], EDITOR, "shell_exec", {"command": "ls"})

    print("\n3. It calls what is allowed by file_* and denied by name: the deny wins")
    await play(POLICIES["editor"], EDITOR, "file_delete", {"path": "plan.txt"})

    print("\n4. It spawns a researcher, which gets what both of them allow")
    helper = POLICIES["editor"].spawn(POLICIES["researcher"])
    await listed("researcher of the editor", HELPER, helper)
    await play(helper, HELPER, "web_search", {"words": "oat prices"})
    print("\n   Only the researcher's list names shell_exec, only the editor's names file_write")
    await play(helper, HELPER, "shell_exec", {"command": "ls"})
    await play(helper, HELPER, "file_write", {"path": "plan.txt", "text": ""})

    print("\n5. It spawns an assistant, which has no list of its own; the editor's deny holds all the same")
    helper = POLICIES["editor"].spawn(POLICIES["assistant"])
    await listed("assistant of the editor", EDITOR.spawn("assistant"), helper)


async def listed(name: str, who: Principal, policy: Policy) -> None:
    """The tools that an agent sees."""
    async with Handrail([tools], policy=policy) as hr:
        print(f"  {name}: {', '.join(tool.id for tool in await hr.tools(who))}")


async def play(policy: Policy, who: Principal, name: str, args: dict[str, Any]) -> None:
    """One call, and for a refusal every step that led to it."""
    async with Handrail([tools], policy=policy) as hr:
        out = await hr.call(name, args, principal=who)
        print(f"  {name} {args}")
        print(f"  {out.status}: {told(out)}")
        if out.decision is not None and out.status == "refused":
            for line in out.decision.explain().splitlines()[1:]:
                print(f"  {line}")


def told(out: Outcome) -> str:
    return f"{out.code}. {out.result.error}" if out.status == "refused" else out.to_model()


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it quietly, as it ends any program
    asyncio.run(main())
