"""Workers as real processes: killed, frozen, restarted, stopped, upgraded. Effects are counted outside."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from handrail import Handrail, Outcome
from tests.acceptance.worker_processes import ANA, BO, EVE, eventually, submitting_client, tools, workers
from tests.acceptance.worker_upgrade import upgrade_workers
from tests.databases import Postgres

pytestmark = pytest.mark.timeout(120)
ENDS = {"completed", "failed", "cancelled"}


def kinds(hr: Handrail, out: Outcome, tenant: str = "acme") -> list[str]:
    return [event.kind for event in hr.log.read(tenant, call_id=out.call_id)]


def runs(hr: Handrail, out: Outcome) -> set[str]:
    events = hr.log.read("acme", call_id=out.call_id)
    return {run for event in events if (run := getattr(event, "run_id", None)) is not None}


@pytest.mark.fault("F06")
async def test_the_work_of_a_killed_worker_is_finished_by_the_others(
    postgres_url: str, tmp_path: Path
) -> None:
    with workers(postgres_url, tmp_path) as staff:
        for _ in range(3):
            staff.start()
        async with submitting_client(postgres_url, tmp_path) as hr:
            outs = [
                await hr.submit("shop.look", {"name": str(n), "until": "go"}, principal=ANA) for n in range(6)
            ]
            await eventually(lambda: len(staff.effects("look")) == 6)
            lost = staff.of(staff.effects("look")[0])
            staff.kill(lost)
            staff.let("go")
            ended = [await hr.wait(out.call_id, 60) for out in outs]
            assert [one.status for one in ended] == ["completed"] * 6
            for out in outs:
                assert kinds(hr, out) == ["started", "completed"]
                assert len(runs(hr, out)) == 1
            mine = [line for line in staff.effects("look") if line.endswith(f" {lost.pid}")]
            assert mine and len(staff.effects("look")) == 6 + len(mine)


@pytest.mark.fault("F02", "F06")
@pytest.mark.req("BY-12")
async def test_an_effect_whose_worker_was_killed_is_not_repeated_but_reviewed(
    database_url: str, tmp_path: Path
) -> None:
    with workers(database_url, tmp_path) as staff:
        first = staff.start()
        async with submitting_client(database_url, tmp_path) as hr:
            out = await hr.submit("shop.charge", {"name": "a", "until": "never"}, principal=ANA)
            await eventually(lambda: staff.effects("charge"))
            staff.kill(first)
            staff.start()
            ended = await hr.wait(out.call_id, 60)
            assert (ended.status, ended.code) == ("needs_review", "UNKNOWN_OUTCOME")
            assert kinds(hr, out) == ["started", "failed"]
            assert len(runs(hr, out)) == 1
            assert len(staff.effects("charge")) == 1


@pytest.mark.fault("F07")
async def test_a_worker_that_was_frozen_records_no_second_outcome(postgres_url: str, tmp_path: Path) -> None:
    with workers(postgres_url, tmp_path) as staff:
        frozen = staff.start()
        async with submitting_client(postgres_url, tmp_path) as hr:
            charge = await hr.submit("shop.charge", {"name": "a", "until": "go"}, principal=ANA)
            look = await hr.submit("shop.look", {"name": "b", "until": "go"}, principal=ANA)
            await eventually(lambda: len(staff.effects()) == 2)
            frozen.send_signal(signal.SIGSTOP)
            staff.start()
            assert (await hr.wait(charge.call_id, 60)).status == "needs_review"
            await eventually(lambda: len(staff.effects("look")) == 2)
            staff.let("go")
            assert (await hr.wait(look.call_id, 60)).status == "completed"
            frozen.send_signal(signal.SIGCONT)
            again = await hr.submit("shop.look", {"name": "c"}, principal=ANA)
            await hr.wait(again.call_id, 60)
            frozen.terminate()
            frozen.wait(60)  # by now it has said all that it had to say
            assert kinds(hr, charge) == ["started", "failed"]
            assert kinds(hr, look) == ["started", "completed"]
            assert len(staff.effects("charge")) == 1


@pytest.mark.fault("F08")
async def test_postgresql_restarted_in_the_middle_leaves_nothing_behind(
    own_postgres: Postgres, tmp_path: Path
) -> None:
    url = own_postgres.url(own_postgres.create("handrail_template"))
    with workers(url, tmp_path) as staff:
        killed = staff.start()
        staff.start()
        async with submitting_client(url, tmp_path) as hr:
            outs = [
                await hr.submit("shop.look", {"name": str(n), "until": "go"}, principal=ANA, session="s1")
                for n in range(5)
            ]
            await eventually(lambda: len(staff.effects("look")) == 5)
            staff.kill(killed)
            own_postgres.restart()
            staff.let("go")
            later = await hr.submit("shop.look", {"name": "later"}, principal=ANA, session="s1")
            for out in (*outs, later):
                assert (await hr.wait(out.call_id, 60)).status == "completed"
                assert kinds(hr, out) == ["started", "completed"]
            events = list(hr.log.read("acme", session="s1"))
            assert [event.seq for event in events] == list(range(1, len(events) + 1))


@pytest.mark.fault("F12")
async def test_a_job_that_kills_its_workers_is_given_up_and_can_be_replayed(
    sqlite_url: str, tmp_path: Path
) -> None:
    with workers(sqlite_url, tmp_path) as staff:
        staff.start()
        async with submitting_client(sqlite_url, tmp_path) as hr:
            bad = await hr.submit("shop.poison", principal=ANA)
            await eventually(
                lambda: staff.effects("poison")
            )  # whoever is killed beside it three times is given up, too
            good = await hr.submit("shop.look", {"name": "a"}, principal=BO)
            while not await _is_dead(hr, bad):
                if staff.all[-1].poll() is not None:
                    staff.start()
                await eventually(lambda: staff.all[-1].poll() is not None or _is_dead(hr, bad))
            assert (await hr.wait(good.call_id, 30)).status == "completed"
            ended = await hr.wait(bad.call_id, 30)
            assert (ended.status, ended.code) == ("failed", "POISONED")
            assert len(staff.effects("poison")) == 3
            assert [kind for kind in kinds(hr, bad) if kind in ENDS] == ["failed"]
            [letter] = await hr.dead_letters.list(ANA)
            assert (letter.code, letter.attempts, letter.call.id) == ("POISONED", 3, bad.call_id)

        staff.stop()
        async with submitting_client(sqlite_url, tmp_path) as hr:
            hr.registry.unregister("shop.poison")
            [mended] = [one for one in tools(tmp_path, "mended") if one.id == "shop.poison"]
            hr.registry.register(mended)
            again = await hr.dead_letters.replay(letter.id, by=ANA)
            assert again.result.data == "harmless"
            [event] = hr.log.read("acme", call_id=again.call_id, status="completed")
            assert event.call.parent == bad.call_id


async def _is_dead(hr: Handrail, out: Outcome) -> bool:
    entry = await hr._jobs.get(out.call_id, "acme")
    return entry is not None and entry.state == "dead"


@pytest.mark.fault("F11")
@pytest.mark.req("BY-18")
async def test_a_call_is_cancelled_from_elsewhere_in_every_state(database_url: str, tmp_path: Path) -> None:
    with workers(database_url, tmp_path) as staff:
        async with submitting_client(database_url, tmp_path) as hr:
            queued = await hr.submit("shop.look", {"name": "queued"}, principal=ANA)
            waiting = await hr.call("shop.wipe", {"name": "waiting"}, principal=ANA)
            assert waiting.status == "pending"
            assert await hr.cancel(queued.call_id) is True
            assert await hr.cancel(waiting.call_id) is True
            staff.start()
            running = await hr.submit("shop.look", {"name": "running", "until": "never"}, principal=ANA)
            apart = await hr.submit("shop.child", {"folder": str(tmp_path)}, principal=ANA)
            await eventually(lambda: staff.effects("look running") and staff.effects("child"))
            child = int(staff.effects("child")[0].split()[-1])
            assert await hr.cancel(running.call_id) is True
            assert await hr.cancel(apart.call_id) is True
            for out in (queued, waiting, running, apart):
                assert (await hr.wait(out.call_id, 60)).code in ("CANCELLED", "REJECTED")
                assert kinds(hr, out)[-1] == "cancelled"
            await eventually(lambda: not _is_there(child))
            assert staff.effects("wipe") == [] and staff.effects("look queued") == []
            assert await hr._jobs.list("acme", state="running") == []
            assert await hr.approvals.list(EVE) == []


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.fault("F13")
async def test_after_an_upgrade_every_run_is_finished_or_blocked_with_the_reason(
    database_url: str, tmp_path: Path
) -> None:
    await upgrade_workers(30, database_url, tmp_path)


@pytest.mark.fault("F09")
async def test_a_second_worker_on_a_sqlite_file_is_refused_and_told_who_has_it(
    sqlite_url: str, tmp_path: Path
) -> None:
    with workers(sqlite_url, tmp_path) as staff:
        first = staff.start()
        with pytest.raises(AssertionError, match=rf"is in use by .*process {first.pid} on .*since"):
            staff.start()
        async with submitting_client(sqlite_url, tmp_path) as hr:  # who only submits is welcome
            out = await hr.submit("shop.look", {"name": "a"}, principal=ANA)
            assert (await hr.wait(out.call_id, 30)).status == "completed"
        staff.kill(first)
        staff.start()


async def test_a_worker_that_is_told_to_stop_finishes_what_it_runs(database_url: str, tmp_path: Path) -> None:
    with workers(database_url, tmp_path) as staff:
        first = staff.start()
        async with submitting_client(database_url, tmp_path) as hr:
            out = await hr.submit("shop.charge", {"name": "a", "until": "go"}, principal=ANA)
            await eventually(lambda: staff.effects("charge"))
            first.terminate()
            with pytest.raises(subprocess.TimeoutExpired):
                first.wait(1)
            staff.let("go")
            assert first.wait(30) == 0
            assert (await hr.wait(out.call_id, 30)).status == "completed"
