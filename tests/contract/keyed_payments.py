"""Parallel calls under one idempotency key, in one process or as a program beside others.

The tool writes each of its effects as a line into a file, so that effects are counted outside.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from pathlib import Path

from handrail import Handrail, Outcome, Policy, Principal, Tool, tool
from handrail.core.tell.log import MemoryLog
from tests.contract.backends import Backend, BackendProcess

ANA = Principal("acme", "ana", agent="ops")


def payment_tool(ledger: Path) -> Tool:
    @tool("pay.send", level="write")
    async def send(amount: int) -> int:
        """Send money."""
        with ledger.open("a") as lines:
            lines.write(f"{os.getpid()} {amount}\n")
        await asyncio.sleep(0.05)  # the others come while it is at work
        return amount

    return send


def payments_handrail(process: BackendProcess, ledger: Path) -> Handrail:
    return Handrail(
        [payment_tool(ledger)],
        policy=Policy(approval_mode="policy"),
        log=process.log if process.log is not None else MemoryLog(),
        approvals=process.book,
        keys=process.keys,
        dead_letters=process.letters,
    )


async def pay(hr: Handrail, times: int, amount: int = 5, key: str = "k1") -> list[Outcome]:
    calls = (
        hr.call("pay.send", {"amount": amount}, principal=ANA, session="s1", idempotency_key=key)
        for _ in range(times)
    )
    return await asyncio.gather(*calls)


async def main(url: str, ledger: str, times: int) -> None:
    place = Backend(url)
    process = place.process()
    print("ready", flush=True)  # noqa: T201
    sys.stdin.readline()
    outs = await pay(payments_handrail(process, Path(ledger)), times)
    counted = Counter((out.status, out.result.data) for out in outs)
    print(sorted(counted.items()), flush=True)  # noqa: T201
    place.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
