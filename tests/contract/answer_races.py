"""Races for one answer: everybody answers the same question at once, from threads or from processes.

Run as a program, it is one of those who answer: it reads the names of questions, and says whether it won.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from handrail.core.clock import Clock
from handrail.core.guard.approval_request import ApprovalRequest, Reply, RequestStatus
from handrail.core.guard.approval_store import ApprovalStore, MemoryApprovals
from handrail.ext.guard import reject, respond
from tests.contract.backends import Backend
from tests.contract.test_approvals import question, yes

EXPIRY = 2_000.0
EARLY, LATE = 1_000.0, 3_000.0

RACERS: dict[str, tuple[RequestStatus, Reply | None, float]] = {
    "approve": ("approved", yes("bo"), EARLY),
    "edit": ("approved", yes("cy", "h1"), EARLY),
    "reject": ("rejected", reject(by="di"), EARLY),
    "respond": ("responded", respond("no need", by="ed"), EARLY),
    "expire": ("expired", None, LATE),
}
"""What each says, and what time it is where they are: for one of them, the time is over."""


async def settle_as(book: ApprovalStore, name: str, racer: str) -> bool:
    status, reply, _ = RACERS[racer]
    settled = await book.settle(name, "acme", status, reply)
    assert settled is None or settled.status == status
    return settled is not None


def expiring_question(name: str) -> ApprovalRequest:
    return question(name, expires_at=EXPIRY)


def race_in_threads(place: Backend, rounds: int) -> list[str]:
    """Who won each round; raises when it was not exactly one."""
    here = threading.local()
    memory = MemoryApprovals(lambda: float(here.time))
    clocks = {racer: Clock(lambda at=at: at) for racer, (_, _, at) in RACERS.items()}  # type: ignore[misc]
    books = {racer: memory if place.url is None else place.process(clocks[racer]).book for racer in RACERS}
    start, won = threading.Barrier(len(RACERS)), threading.Lock()
    winners: list[list[str]] = [[] for _ in range(rounds)]

    def run(racer: str) -> None:
        here.time = RACERS[racer][2]

        async def all_rounds() -> None:
            for number in range(rounds):
                if racer == "approve":
                    await books[racer].add(expiring_question(f"a{number}"))
                start.wait()
                if await settle_as(books[racer], f"a{number}", racer):
                    with won:
                        winners[number].append(racer)

        asyncio.run(all_rounds())

    threads = [threading.Thread(target=run, args=(racer,)) for racer in RACERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [_only_winner(names) for names in winners]


def race_in_processes(place: Backend, rounds: int, racers: Iterable[str] = tuple(RACERS)) -> list[str]:
    """The same, each in a process of its own."""
    assert place.url is not None
    book = place.process().book
    started = {racer: _start(place.url, racer) for racer in racers}
    try:
        for process in started.values():
            assert _line(process) == "ready"
        won: list[str] = []
        for number in range(rounds):
            asyncio.run(book.add(expiring_question(f"a{number}")))
            for process in started.values():
                assert process.stdin is not None
                process.stdin.write(f"a{number}\n")
                process.stdin.flush()
            won.append(_only_winner([racer for racer, process in started.items() if _line(process) == "won"]))
        return won
    finally:
        for process in started.values():
            process.communicate()


def _only_winner(names: list[str]) -> str:
    [winner] = names
    return winner


def _start(url: str, racer: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.contract.answer_races", url, racer],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def main(url: str, racer: str, say: Callable[[str], Any]) -> None:
    place = Backend(url)
    at = RACERS[racer][2]
    process = place.process(Clock(lambda: at))

    async def all_rounds() -> None:
        say("ready")
        for line in sys.stdin:
            say("won" if await settle_as(process.book, line.strip(), racer) else "lost")

    asyncio.run(all_rounds())
    place.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], lambda word: print(word, flush=True))  # noqa: T201
