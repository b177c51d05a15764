"""A worker as a process of its own, with tools whose effects are counted outside of it.

It works until it is told to stop. Each effect is a line in `FOLDER/effects`; a body that waits does so until
the file it waits for is there.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

from handrail import Handrail, Policy, Principal, tool
from tests.harness.background_process import BackgroundProcess, database_fork_server

ANA = Principal(tenant="acme", user="ana", permissions=["*"])
BO = Principal(tenant="other", user="bo", permissions=["*"])
EVE = Principal(tenant="acme", user="eve", permissions=["*"])
FREE = Policy(approval_mode="danger")
LEASE = 2.0


@tool("shop.child", level="read", isolation="process")
def child(folder: str) -> str:
    """Work for long in a process of its own."""
    with (Path(folder) / "effects").open("a") as file:
        file.write(f"child {os.getpid()}\n")
    time.sleep(600)
    return "done"


def tools(folder: Path, variant: str = "") -> list[Any]:
    """The tools of the workshop. Variants: `mended` survives poison, `upgraded` has other tools."""

    def note(line: str) -> None:
        with (folder / "effects").open("a") as file:
            file.write(f"{line}\n")

    async def there(name: str) -> None:
        while not (folder / name).exists():  # noqa: ASYNC110 - it comes from another process
            await asyncio.sleep(0.02)

    @tool("shop.look", level="read")
    async def look(name: str, until: str | None = None) -> str:
        """Look at something, until a file is there."""
        note(f"look {name} {os.getpid()}")
        if until is not None:
            await there(until)
        return f"seen {name}"

    @tool("shop.charge", level="write", danger="safe")
    async def charge(name: str, until: str | None = None) -> str:
        """Take money, which must not happen twice."""
        note(f"charge {name} {os.getpid()}")
        if until is not None:
            await there(until)
        return f"charged {name}"

    @tool("shop.poison", level="read")
    async def poison() -> str:
        """Kill whoever runs this."""
        note("poison")
        if variant != "mended":
            os.kill(os.getpid(), signal.SIGKILL)
        return "harmless"

    @tool("shop.wipe", level="destructive", danger="dangerous")
    async def wipe(name: str) -> str:
        """Remove everything."""
        note(f"wipe {name}")
        return "gone"

    @tool("shop.leaves", level="read")
    async def leaves(name: str) -> str:
        """Look at what the next version has no more."""
        note(f"leaves {name}")
        return name

    @tool("shop.changes", level="read")
    async def changes(name: str) -> str:
        """Look at what the next version wants otherwise."""
        note(f"changes {name}")
        return name

    @tool("shop.changes", level="read")
    async def changed(number: int) -> int:
        """Look at a number."""
        note(f"changed {number}")
        return number

    both = [look, charge, poison, child, wipe]
    return [*both, changed] if variant == "upgraded" else [*both, leaves, changes]


class Workers:
    """Worker processes of one test."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder
        self.all: list[BackgroundProcess] = []

    def start(self, variant: str = "") -> BackgroundProcess:
        """One more, once it is at work."""
        log = self.folder / f"worker-{len(self.all)}.log"
        around = {"HANDRAIL_LEASE": str(LEASE), "HANDRAIL_KEY": "", "XDG_DATA_HOME": str(self.folder)}
        process = BackgroundProcess(
            database_fork_server(),
            "tests.acceptance.worker_processes:work",
            url=self.url,
            folder=str(self.folder),
            variant=variant,
            env={**os.environ, **around},
            log=str(log),
        )
        self.all.append(process)
        said = process.output.readline()
        assert said == "ready\n", f"the worker did not start: {said}{log.read_text()}"
        return process

    def kill(self, process: BackgroundProcess) -> None:
        process.kill()
        process.wait(20)

    def stop(self) -> None:
        for process in self.all:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait(20)
            process.output.close()

    def effects(self, beginning: str = "") -> list[str]:
        file = self.folder / "effects"
        lines = file.read_text().splitlines() if file.exists() else []
        return [line for line in lines if line.startswith(beginning)]

    def of(self, line: str) -> BackgroundProcess:
        """The worker that had an effect."""
        return next(one for one in self.all if one.pid == int(line.split()[-1]))

    def let(self, name: str) -> None:
        """Let bodies go on that wait for a file."""
        (self.folder / name).touch()


@contextlib.contextmanager
def workers(url: str, folder: Path) -> Iterator[Workers]:
    some = Workers(url, folder)
    try:
        yield some
    finally:
        some.stop()


@contextlib.asynccontextmanager
async def submitting_client(url: str, folder: Path) -> AsyncIterator[Handrail]:
    """Somebody who submits and waits, and runs nothing."""
    before = {name: os.environ.get(name) for name in ("HANDRAIL_LEASE", "XDG_DATA_HOME")}
    os.environ.update(HANDRAIL_LEASE=str(LEASE), XDG_DATA_HOME=str(folder))
    try:
        async with Handrail(tools(folder), policy=FREE, database=url, worker=False) as hr:
            yield hr
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


async def eventually(look: Callable[[], Any], seconds: float = 40) -> Any:
    """What comes of looking, once it is something."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = look()
        if asyncio.iscoroutine(found):
            found = await found
        if found:
            return found
        await asyncio.sleep(0.05)
    raise AssertionError("it did not come to that")


async def _work(url: str, folder: Path, variant: str) -> None:
    over = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
    async with Handrail(tools(folder, variant), policy=FREE, database=url):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await over.wait()


def work(url: str, folder: str, variant: str, env: dict[str, str], log: str, said: str) -> None:
    """In a process of its own."""
    os.environ.clear()
    os.environ.update(env)
    for number, path in ((1, said), (2, log)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    asyncio.run(_work(url, Path(folder), variant))
