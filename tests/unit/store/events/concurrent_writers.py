"""Many writers into one session, some of them killed, and readers that come and go meanwhile."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

from handrail import Principal, Result
from handrail.core.define.call import BoundCall
from handrail.core.tell.events import Event, ToolCompleted, ToolStarted
from handrail.store.database import Database
from handrail.store.events.log import StoreLog
from handrail.store.events.verify import LogFlaw, verify
from tests.harness.fork_server import ForkServer

SESSION = "shared"
ANA = Principal("acme", "ana")
_PATIENCE = 120.0


def write(url: str, folder: str, name: str, threads: int, calls: int) -> None:
    """One process: each thread tells of calls, one event after the other, and notes each that is durable."""
    db = Database(url)
    log = StoreLog(db)
    notes = os.open(Path(folder, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(notes, f"{os.getpid()}\n".encode())

    def note(event: Event) -> None:
        os.write(notes, f"{event.call_id} {event.kind} {event.seq}\n".encode())

    def work(number: int) -> None:
        asyncio.run(_tell(log, f"{name}.{number}", calls, note))

    working = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for thread in working:
        thread.start()
    for thread in working:
        thread.join()
    log.close()
    db.close()


async def _tell(log: StoreLog, name: str, calls: int, note: Callable[[Event], None]) -> None:
    for number in range(calls):
        call = BoundCall("dice.roll", ANA, f"{name}.{number}", session=SESSION)
        begun = ToolStarted(call, "dice.roll", time.time(), f"run.{call.id}", {"sides": number})
        ended = ToolCompleted(call, "dice.roll", time.time(), begun.run_id, Result(data=number), 1.0)
        for event in (begun, ended):
            log.append(event)
            if number % 2:
                await log.flush(event)
                note(event)
        await log.flush(ended)


async def write_concurrently(
    url: str, folder: Path, *, processes: int, threads: int, calls: int, kills: int, seed: int
) -> None:
    """Assert that nothing is lost, doubled or out of order, whoever dies and whoever reads."""
    chance = random.Random(seed)
    names = [f"w{number}" for number in range(processes)]
    victims = names[:kills]
    db = Database(url)
    log = StoreLog(db)
    readers = [asyncio.create_task(_reader(log, random.Random(seed + n), n % 2 == 0)) for n in range(3)]
    with ForkServer("tests.unit.store.events.concurrent_writers") as fork_server:
        ends = {
            name: fork_server.start(
                "tests.unit.store.events.concurrent_writers:write",
                url=url,
                folder=str(folder),
                name=name,
                threads=threads,
                calls=calls * (100 if name in victims else 1),
            )
            for name in names
        }
        for victim in victims:
            enough = chance.randrange(2, 2 + calls)
            os.kill(await _pid_after(folder / victim, enough), signal.SIGKILL)
        codes = {name: await _result(end) for name, end in ends.items()}
    assert codes == {name: -9 if name in victims else 0 for name in names}
    last = ToolStarted(BoundCall("end", ANA, "end", session=SESSION), "end", 1.0, "run.end", {})
    log.append(last)
    await log.flush(last)
    seen = await asyncio.wait_for(asyncio.gather(*readers), _PATIENCE)

    told = list(log.read("acme", session=SESSION))
    assert [event.seq for event in told] == list(range(1, len(told) + 1))
    assert [one for one in verify(db, "acme") if isinstance(one, LogFlaw)] == []
    for numbers in seen:
        assert numbers == list(range(1, last.seq + 1))
    found = {(event.call_id, event.kind): event.seq for event in told}
    assert len(found) == len(told), "an event was written twice"
    for name in names:
        for line in (folder / name).read_text().splitlines()[1:]:
            call_id, kind, seq = line.split(" ")
            assert found[call_id, kind] == int(seq), "an acknowledged event is missing"
    whole = Counter(event.call_id.partition(".")[0] for event in told)
    assert all(whole[name] == threads * calls * 2 for name in names if name not in victims)
    log.close()
    db.close()


async def _reader(log: StoreLog, chance: random.Random, of_session: bool) -> list[int]:
    """Read on from the last number seen, go away after some events, come back; until the end is told."""
    numbers: list[int] = []
    after = 0
    session = SESSION if of_session else None
    while True:
        stay = chance.randrange(1, 60)
        async with aclosing(log.follow("acme", session=session, after=after)) as events:
            async for event in events:
                numbers.append(event.seq)
                after = event.seq if of_session else event.position
                if event.tool == "end":
                    return numbers
                stay -= 1
                if not stay:
                    break


async def _pid_after(notes: Path, lines: int) -> int:
    """The process that writes these notes, once there are so many."""
    async with asyncio.timeout(_PATIENCE):
        while True:
            written = _lines(notes)
            if len(written) > lines:
                return int(written[0])
            await asyncio.sleep(0.005)


def _lines(notes: Path) -> list[str]:
    return notes.read_text().splitlines() if notes.exists() else []


async def _result(end: object) -> int:
    code: int = await asyncio.wait_for(asyncio.wrap_future(end), _PATIENCE)  # type: ignore[arg-type]
    return code
