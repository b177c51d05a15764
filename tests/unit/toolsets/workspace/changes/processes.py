"""Processes that change files and die of it, or work side by side: run as a program, which forks them."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.unit.toolsets.workspace.changes.open_workspace import OpenWorkspace

KILL_COUNT = 20
KILL_POINTS = ("begun", "put", "done")


def run_processes(what: str, root: Path) -> list[int]:
    """Let the processes live, and say how each ended."""
    done = subprocess.run(
        [sys.executable, "-m", __name__, what, str(root)], capture_output=True, text=True, check=True
    )
    return [int(one) for one in done.stdout.split()]


def _killed(root: Path, when: str) -> None:
    opened = OpenWorkspace(root)
    change = opened.change("a.txt", b"after")
    number = opened.changes.record(change)
    if when != "begun":
        opened.apply(change)
    if when == "done":
        opened.changes.done(number)
    os.kill(os.getpid(), signal.SIGKILL)


def _writes(root: Path, name: str) -> None:
    opened = OpenWorkspace(root)
    for n in range(20):
        opened.put(f"{name}.txt", b"%d" % n)


def _restless(root: Path, name: str, begun: int) -> None:
    """Change and undo without end; whoever watches is told that it begins, and kills it at some moment."""
    chance = random.Random(name)
    opened = OpenWorkspace(root)

    async def live() -> None:
        os.write(begun, b"!")
        for turn in range(1, 10_000):
            for _ in range(chance.randint(1, 3)):
                path = chance.choice(["a.txt", "b.txt", "sub/c.txt"])
                text = f"{name} {turn} {chance.random()}\n" * chance.choice([1, 2_000])
                await opened.call("write_file", {"path": path, "content": text}, turn=turn)
            if chance.random() < 0.5:
                await opened.call("undo_turn", {"turn": turn}, turn=turn)
            if chance.random() < 0.2:
                await opened.call("undo_file", {"path": "a.txt", "steps": 2}, turn=turn)
            if chance.random() < 0.2:
                await opened.call("undo_file", {"path": "a.txt", "redo": True}, turn=turn)

    asyncio.run(live())


def _counts(root: Path, name: str) -> None:
    """Add one to a number that others add to as well; end with how often that went well."""
    opened, well = OpenWorkspace(root), 0

    async def live() -> None:
        nonlocal well
        async with opened.handrail:
            for _ in range(20):
                seen = (root / "n.txt").read_text()
                edit = {"path": "n.txt", "search": seen, "replace": str(int(seen) + 1)}
                well += (await opened.call("edit_file", edit)).ok

    asyncio.run(live())
    os._exit(well)


def _killed_after(root: Path, number: int, pause: float) -> int:
    """Every other one is killed so long after it began, the rest at any time, however slow the machine is."""
    reading, begun = os.pipe()
    child = _forked(lambda root, name: _restless(root, name, begun), root, f"life {number}")
    os.close(begun)
    if number % 2:
        os.read(reading, 1)
    time.sleep(pause)  # the moment of death is what is tried out
    os.kill(child, signal.SIGKILL)
    os.close(reading)
    return _ended(child)


def _forked(work: Callable[[Path, str], None], root: Path, name: str) -> int:
    child = os.fork()
    if child:
        return child
    work(root, name)
    os._exit(0)


def _ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    where = Path(sys.argv[2])
    if sys.argv[1] == "restless":
        moments = random.Random(7)
        ended = [_killed_after(where, n, moments.uniform(0.05, 0.5)) for n in range(KILL_COUNT)]
    elif sys.argv[1] == "counting":
        ended = [_ended(one) for one in [_forked(_counts, where, name) for name in "abc"]]
    else:
        ended = [_ended(_forked(_killed, where / when, when)) for when in KILL_POINTS]
        beside = [_forked(_writes, where / "beside", name) for name in "abc"]
        ended += [_ended(one) for one in beside]
    sys.stdout.write(" ".join(map(str, ended)))
