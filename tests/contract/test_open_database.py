"""A database is opened by one worker, whole or not at all; whoever could not open it leaves it free."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from handrail import Handrail, Principal, tool
from handrail.core.errors import DefinitionError, UsageError
from handrail.core.run.outcomes import Outcomes
from handrail.databases import upgrade
from handrail.engine.resumer import Resumer
from handrail.jobs import migrate as queue
from handrail.jobs.dbos_engine import DbosEngine
from handrail.store import migrate
from handrail.store.file_lock import DatabaseInUse

ANA = Principal("acme", "ana", permissions={"*"})
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAIL_KEY", "5a" * 32)


@tool("notes.echo", level="read")
async def echo(text: str) -> str:
    """Give back a text."""
    return text


@pytest.mark.fault("F09")
async def test_a_handrail_that_could_not_be_made_holds_no_database(sqlite_url: str) -> None:
    with pytest.raises(DefinitionError):
        Handrail([echo, object()], database=sqlite_url)
    with pytest.raises(UsageError):
        Handrail([echo], database=sqlite_url, max_parallel=0)
    async with Handrail([echo], database=sqlite_url) as hr:
        assert (await hr.call("notes.echo", {"text": "x"}, principal=ANA)).ok


@pytest.mark.fault("F09")
async def test_a_handrail_that_could_not_be_opened_holds_no_database(sqlite_url: str, tmp_path: Path) -> None:
    other = f"sqlite:///{tmp_path / 'other.db'}"
    async with Handrail([echo], database=sqlite_url):
        with pytest.raises(UsageError, match="already works on the jobs"):
            async with Handrail([echo], database=other):
                raise AssertionError("opened")
    async with Handrail([echo], database=other) as hr:
        assert (await hr.call("notes.echo", {"text": "x"}, principal=ANA)).ok


@pytest.mark.fault("F09")
@pytest.mark.parametrize("given_up", ["resumed", "jobs", "engine"])
async def test_a_close_that_is_given_up_leaves_the_process_free(
    sqlite_url: str, given_up: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, name = {
        "resumed": (Resumer, "close"),
        "jobs": (DbosEngine, "drain"),
        "engine": (DbosEngine, "_written_down"),
    }[given_up]
    waiting = asyncio.Event()

    async def for_ever(*_: object) -> None:
        if not waiting.is_set():
            waiting.set()
            await asyncio.Event().wait()

    hr = await Handrail([echo], database=sqlite_url).open()
    with monkeypatch.context() as there:
        there.setattr(owner, name, for_ever)
        closing = asyncio.create_task(hr.close())
        await waiting.wait()
        closing.cancel()
        await asyncio.wait([closing])
    assert closing.cancelled()
    assert await _echoes(sqlite_url)


@pytest.mark.fault("F09")
async def test_a_link_to_a_file_is_the_same_file(sqlite_url: str, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    async with Handrail([echo], database=sqlite_url):
        link.symlink_to(sqlite_url.removeprefix("sqlite:///"))
        with pytest.raises(DatabaseInUse, match="is in use by"):
            Handrail([echo], database=f"sqlite:///{link}")


@pytest.mark.fault("F01")
async def test_an_upgrade_that_was_killed_half_way_is_made_up_for(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (queue, migrate):
        with monkeypatch.context() as killed:
            killed.setattr(module, "upgrade", _killed)
            with pytest.raises(KeyboardInterrupt):
                upgrade(sqlite_url)
    async with Handrail([echo], database=sqlite_url) as hr:
        out = await hr.submit("notes.echo", {"text": "x"}, principal=ANA)
        assert (await hr.wait(out.call_id, 20)).ok


def _killed(url: str) -> None:
    raise KeyboardInterrupt


async def test_many_may_open_a_new_file_at_once(sqlite_url: str) -> None:
    code = (
        "import asyncio, sys; from handrail import Handrail; "
        "asyncio.run(Handrail([], database=sys.argv[1], worker=False).close())"
    )
    opening = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", code, sqlite_url, cwd=ROOT, stderr=subprocess.PIPE
        )
        for _ in range(3)
    ]
    said = [(await one.communicate())[1].decode() for one in opening]
    assert [one.returncode for one in opening] == [0, 0, 0], said


@pytest.mark.fault("F18")
async def test_the_longer_a_look_takes_the_longer_is_the_pause_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    now, sleep = [0.0], asyncio.sleep

    async def look(call_ids: object) -> list[object]:
        now[0] += 0.5
        return []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(0)

    monkeypatch.setattr("handrail.core.run.outcomes.time.monotonic", lambda: now[0])
    monkeypatch.setattr("handrail.core.run.outcomes.asyncio.sleep", pause)
    outcomes = Outcomes(look=look)  # type: ignore[arg-type]
    waiting = asyncio.ensure_future(outcomes.wait("call_1", None))
    while not pauses:
        await sleep(0)
    waiting.cancel()
    assert pauses[0] >= 10


@pytest.mark.fault("F09")
def test_a_fork_writes_nothing_and_holds_nothing(sqlite_url: str) -> None:
    # Not asyncio's: on Python 3.11 its wait() also waits for pipes, and the fork holds them.
    with subprocess.Popen(
        [sys.executable, "-m", "tests.contract.fork_program", sqlite_url],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdin is not None and program.stdout is not None
        said: list[str] = []
        while "forked" not in said:
            line = program.stdout.readline()
            assert line, said
            said.append(line.strip())
        program.wait()
        assert asyncio.run(_echoes(sqlite_url))  # though the fork is still there
        program.stdin.close()
        program.stdout.read()  # until the fork is gone too
    assert said[0] == "completed"
    assert "failed while it served notes.echo (UsageError)" in said[1]


async def _echoes(url: str) -> bool:
    async with Handrail([echo], database=url) as hr:
        return (await hr.call("notes.echo", {"text": "x"}, principal=ANA)).ok
