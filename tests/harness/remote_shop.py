"""Remote: a shop in a process of its own, which does what it is told and can be killed at any moment."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import resource
import signal
import socket
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any

from handrail import Handrail, Outcome
from handrail.core.run.approvals.inbox import Conflict
from handrail.core.tell.projections import outcome_of
from handrail.testing import FakeClock
from tests.harness import shop
from tests.harness.fork_server import ForkServer
from tests.harness.ledger import LedgerWriter
from tests.harness.shop import AGENT, REVIEWER, SESSION, open_shop

Answer = dict[str, Any]
_numbers = itertools.count(1)
_NO_LIMIT = resource.RLIM_INFINITY


class ShopConflict(Exception):
    """The shop answered with a Conflict."""


class RemoteShop:
    """The shop as the test sees it. Every request is answered, or its future fails when the shop dies."""

    def __init__(
        self,
        fork_server: ForkServer,
        folder: Path,
        ledger: Path,
        url: str | None,
        now: float | None = None,
        worker: bool = True,
    ) -> None:
        path = folder / f"remote-{next(_numbers)}"
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
            door.bind(str(path))
            door.listen(1)
            door.settimeout(50)
            self._ended = fork_server.start(
                "tests.harness.remote_shop:serve",
                url=url, ledger=str(ledger), signs=str(folder), path=str(path), now=now, worker=worker,
            )  # fmt: skip
            self._ended.add_done_callback(lambda _: _unblock_accept(path))
            self._peer, _ = door.accept()
        self._asked: dict[int, Future[Answer]] = {}
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, name="remote", daemon=True)
        self._pid: Future[int] = Future()
        self._reader.start()
        self.pid = self._pid.result(50)

    def begin(self, do: str, **arguments: Any) -> Future[Answer]:
        answer: Future[Answer] = Future()
        with self._lock:
            number = len(self._asked)
            self._asked[number] = answer
        self._peer.sendall(json.dumps([number, do, arguments]).encode() + b"\n")
        return answer

    def ask(self, do: str, **arguments: Any) -> Answer:
        return self.begin(do, **arguments).result(20)

    def kill(self) -> None:
        """What `kill -9` does, unless it is gone already; returns when the process is gone."""
        if not self._ended.done():
            os.kill(self.pid, signal.SIGKILL)
        self._left()

    def close(self) -> None:
        """A proper end."""
        self._peer.shutdown(socket.SHUT_WR)
        assert self._left() == 0, "the shop did not end well"

    def _left(self) -> int:
        code = self._ended.result(40)
        self._reader.join(20)
        self._peer.close()
        return code

    def __enter__(self) -> RemoteShop:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None and not self._ended.done():
            self.close()
        else:
            self.kill()

    def _read(self) -> None:
        with self._peer.makefile("rb") as lines:
            try:
                for line in lines:
                    self._hear(json.loads(line))
            except (OSError, ValueError):
                pass
        dead = ConnectionError("the shop is dead")
        if not self._pid.done():
            self._pid.set_exception(dead)
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(dead)

    def _hear(self, said: list[Any]) -> None:
        match said:
            case ["born", pid]:
                self._pid.set_result(pid)
            case ["done", number, answer]:
                self._asked[number].set_result(answer)
            case ["conflict", number, text]:
                self._asked[number].set_exception(ShopConflict(text))
            case ["broken", number, text]:
                self._asked[number].set_exception(AssertionError(text))


def _unblock_accept(path: Path) -> None:
    """Wake the test if the shop died before it came to the door."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as late:
            late.connect(str(path))
    except OSError:
        return


def serve(url: str | None, ledger: str, signs: str, path: str, now: float | None, worker: bool) -> None:
    """Run in a child: with a clock that the test turns, or that of the machine."""
    shop.use(LedgerWriter(ledger), Path(signs))
    asyncio.run(_serve(url, path, None if now is None else FakeClock(now), worker))


async def _serve(url: str | None, path: str, clock: FakeClock | None, worker: bool) -> None:
    async with open_shop(url, clock, worker) as hr:
        reader, writer = await asyncio.open_unix_connection(path)
        desk = ShopCommands(hr, clock)

        def say(*words: Any) -> None:
            writer.write(json.dumps(words).encode() + b"\n")

        async def answer(number: int, do: str, arguments: dict[str, Any]) -> None:
            handle: Callable[..., Awaitable[Answer]] = getattr(desk, do)
            try:
                say("done", number, await handle(**arguments))
            except Conflict as conflict:
                say("conflict", number, str(conflict))
            except Exception as error:
                say("broken", number, f"{type(error).__name__}: {error}")

        say("born", os.getpid())
        tasks = set()
        async for line in reader:
            task = asyncio.create_task(answer(*json.loads(line)))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        for task in tasks:
            task.cancel()


class ShopCommands:
    """What can be asked of the shop."""

    def __init__(self, hr: Handrail, clock: FakeClock | None) -> None:
        self._hr = hr
        self._clock = clock

    async def call(
        self, tool: str, order: str, id: str, source: Any = "agent", key: str | None = None
    ) -> Answer:
        out = await self._hr.call(
            tool,
            {"order": order},
            principal=AGENT,
            source=source,
            session=SESSION,
            id=id,
            idempotency_key=key,
        )
        return _outcome_data(out)

    async def call_often(self, tool: str, order: str, key: str, times: int) -> Answer:
        """The same call so many times at once, under one key; how they were answered."""
        calls = [self.call(tool, order, f"{key}-{os.getpid()}-{n}", key=key) for n in range(times)]
        answers = await asyncio.gather(*calls)
        return {"statuses": sorted(answer["status"] for answer in answers)}

    async def submit(self, tool: str, order: str) -> Answer:
        out = await self._hr.submit(tool, {"order": order}, principal=AGENT, session=SESSION)
        return {"status": out.status, "call": out.call_id}

    async def wait(self, call: str, timeout: float = 10) -> Answer:
        return _outcome_data(await self._hr.wait(call, timeout=timeout))

    async def look(self, call: str, timeout: float = 10) -> Answer:
        """How a call ended that nobody waits for any more, as the log tells, once it does."""

        def read() -> Outcome | None:
            return outcome_of(self._hr.log.read(AGENT.tenant, call_id=call))

        async with asyncio.timeout(timeout):
            while True:
                out = await asyncio.to_thread(read)
                if out is not None and out.status != "pending":
                    return _outcome_data(out)
                await asyncio.sleep(0.01)

    async def waiting(self) -> Answer:
        return {"approvals": [request.id for request in await self._hr.approvals.list(REVIEWER)]}

    async def approve(self, approval: str, order: str | None = None) -> Answer:
        edits = None if order is None else {"order": order}
        decided = await self._hr.approvals.approve(approval, by=REVIEWER, edits=edits)
        return {"status": decided.status}

    async def reject(self, approval: str) -> Answer:
        return {"status": (await self._hr.approvals.reject(approval, by=REVIEWER, reason="no")).status}

    async def respond(self, approval: str) -> Answer:
        return {"status": (await self._hr.approvals.respond(approval, by=REVIEWER, result="as if")).status}

    async def cancel(self, call: str) -> Answer:
        return {"stopped": await self._hr.cancel(call)}

    async def turn(self, seconds: float) -> Answer:
        assert self._clock is not None
        return {"now": self._clock.turn(seconds)}

    async def fill_disk(self, file: str, free_bytes: int) -> Answer:
        """From here on no file can be written beyond so many bytes more than this one has."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (os.stat(file).st_size + free_bytes, _NO_LIMIT))
        return {}

    async def free_disk(self) -> Answer:
        resource.setrlimit(resource.RLIMIT_FSIZE, (_NO_LIMIT, _NO_LIMIT))
        return {}

    async def letters(self) -> Answer:
        found = await self._hr.dead_letters.list(AGENT)
        return {letter.id: [letter.call.id, letter.status] for letter in found}

    async def replay(self, letter: str) -> Answer:
        return _outcome_data(await self._hr.dead_letters.replay(letter, by=AGENT))


def _outcome_data(out: Outcome) -> Answer:
    return {
        "call": out.call_id,
        "status": out.status,
        "code": out.code,
        "approval": out.approval_id,
        "run": out.run_id,
        "data": out.result.data,
        "error": out.result.error,
    }
