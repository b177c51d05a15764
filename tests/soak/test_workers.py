"""Work over workers for long, and in numbers: the bounds of the list of faults, measured."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import threading
import time
from functools import partial
from pathlib import Path

import psutil
import pytest

from handrail import Handrail, Policy, Principal, tool
from handrail.core.run.jobs.job import FINAL
from tests.acceptance.worker_processes import ANA, LEASE, Workers, eventually, submitting_client, workers
from tests.acceptance.worker_upgrade import upgrade_workers
from tests.databases import Postgres
from tests.harness.cpu_steal import measure_without_steal, steal_seconds

FROZEN = 60.0
ROUNDS = 6
IN_FLIGHT = 500
WAITING = 10_000
NOISE = 10_000
QUIET = 60


def _all_at_it(staff: Workers, name: str) -> bool:
    return len(staff.effects(f"look {name} ")) == 9


@pytest.mark.alone
@pytest.mark.fault("F06")
async def test_a_dead_workers_work_is_finished_within_the_lease_and_five_seconds(
    postgres_url: str, tmp_path: Path
) -> None:
    with workers(postgres_url, tmp_path) as staff:
        for _ in range(3):
            staff.start()
        async with submitting_client(postgres_url, tmp_path) as hr:
            for turn in range(ROUNDS):
                name = f"t{turn}"
                outs = [
                    await hr.submit("shop.look", {"name": name, "until": name}, principal=ANA)
                    for _ in range(9)
                ]
                await eventually(partial(_all_at_it, staff, name))
                lost = staff.of(random.Random(turn).choice(staff.effects(f"look {name} ")))
                mine = [one for one in staff.effects(f"look {name} ") if one.endswith(f" {lost.pid}")]
                staff.kill(lost)
                killed = time.monotonic()
                staff.let(name)
                for out in outs:
                    assert (await hr.wait(out.call_id, 60)).status == "completed"
                assert time.monotonic() - killed < LEASE + 5
                assert len(staff.effects(f"look {name} ")) == 9 + len(mine)
                staff.start()


@pytest.mark.fault("F07")
async def test_a_worker_frozen_for_a_minute_records_no_second_outcome(
    postgres_url: str, tmp_path: Path
) -> None:
    with workers(postgres_url, tmp_path) as staff:
        frozen = staff.start()
        async with submitting_client(postgres_url, tmp_path) as hr:
            charges = [
                await hr.submit("shop.charge", {"name": str(n), "until": "go"}, principal=ANA)
                for n in range(10)
            ]
            looks = [
                await hr.submit("shop.look", {"name": str(n), "until": "go"}, principal=ANA)
                for n in range(10)
            ]
            await eventually(lambda: len(staff.effects()) == 20)
            frozen.send_signal(signal.SIGSTOP)
            stopped = time.monotonic()
            staff.start()
            for out in charges:
                # stopped in the midst of a transaction, it holds up the others for up to a minute
                assert (await hr.wait(out.call_id, 150)).status == "needs_review"
            await eventually(lambda: len(staff.effects("look")) == 20)
            staff.let("go")
            for out in looks:
                assert (await hr.wait(out.call_id, 60)).status == "completed"
            await asyncio.sleep(max(0.0, FROZEN - (time.monotonic() - stopped)))
            frozen.send_signal(signal.SIGCONT)
            again = await hr.submit("shop.look", {"name": "again"}, principal=ANA)
            await hr.wait(again.call_id, 60)
            frozen.terminate()
            frozen.wait(60)
            for out in (*charges, *looks):
                kinds = [event.kind for event in hr.log.read("acme", call_id=out.call_id)]
                assert len(kinds) == 2 and kinds[0] == "started"
            assert len(staff.effects("charge")) == 10


@pytest.mark.fault("F08")
async def test_postgresql_restarted_again_and_again_leaves_nothing_pending(
    own_postgres: Postgres, tmp_path: Path
) -> None:
    url = own_postgres.url(own_postgres.create("handrail_template"))
    with workers(url, tmp_path) as staff:
        for _ in range(2):
            staff.start()
        async with submitting_client(url, tmp_path) as hr:
            outs = []
            for turn in range(ROUNDS):
                for number in range(10):
                    given = {"name": f"{turn}-{number}"}
                    outs.append(await hr.submit("shop.look", given, principal=ANA, session="s1"))
                if turn % 2:
                    staff.kill(staff.all[-1])
                own_postgres.restart()
                if turn % 2:
                    staff.start()
            for out in outs:
                assert (await hr.wait(out.call_id, 120)).status == "completed"
            seqs = [event.seq for event in hr.log.read("acme", session="s1")]
            assert seqs == list(range(1, len(seqs) + 1))
            assert all(job.state in FINAL for job in await hr._jobs.list("acme"))


@pytest.mark.fault("F13")
async def test_an_upgrade_with_hundreds_of_runs_in_flight_loses_none(
    database_url: str, tmp_path: Path
) -> None:
    await upgrade_workers(IN_FLIGHT, database_url, tmp_path, seconds=300)


@tool("shop.wipe", level="destructive", danger="dangerous")
async def wipe(name: str) -> str:
    """Remove everything."""
    return name


@pytest.mark.fault("F18")
async def test_ten_thousand_waiting_approvals_cost_nothing(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    async with Handrail([wipe], database=database_url) as hr:
        await hr.call("shop.wipe", {"name": "first"}, principal=ANA)
        alone, before = await _share_of_a_core(), threading.active_count()
        for start in range(0, WAITING, 500):
            some = (hr.call("shop.wipe", {"name": str(n)}, principal=ANA) for n in range(start, start + 500))
            assert {out.status for out in await asyncio.gather(*some)} == {"pending"}
        share = await _share_of_a_core()
        assert share < alone + 0.02, f"{share:.1%} of a core while nothing happens, {alone:.1%} with one"
        assert threading.active_count() <= before + 8


async def _share_of_a_core() -> float:
    """What this process uses while nothing happens, once it has come to rest."""
    await asyncio.sleep(3)
    process = psutil.Process(os.getpid())
    began, spent = time.monotonic(), sum(process.cpu_times()[:2])
    await asyncio.sleep(15)
    return (sum(process.cpu_times()[:2]) - spent) / (time.monotonic() - began)


@pytest.mark.alone
@pytest.mark.fault("F17")
async def test_a_noisy_tenant_leaves_the_quiet_one_in_peace(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("HANDRAIL_PER_TENANT")  # what holds where nobody set anything
    quiet, noisy = Principal(tenant="quiet", user="q"), Principal(tenant="noisy", user="n")

    @tool("work.short", level="read")
    async def short() -> str:
        """Take a moment."""
        await asyncio.sleep(0.05)
        return "done"

    async def p95() -> float:
        took = []
        for _ in range(QUIET):
            began = time.monotonic()
            out = await hr.submit("work.short", principal=quiet)
            await hr.wait(out.call_id, 60)
            took.append(time.monotonic() - began)
        return sorted(took)[int(QUIET * 0.95) - 1]

    async with Handrail([short], policy=Policy(), database=database_url) as hr:
        alone = await measure_without_steal(p95)
        for start in range(0, NOISE, 500):
            some = (hr.submit("work.short", principal=noisy) for _ in range(start, start + 500))
            await asyncio.gather(*some)
        beside = await measure_without_steal(p95)
        left = await hr._jobs.list("noisy", state="queued")
        assert left, "the noise was over before the quiet one was measured"
        machine = f"load {os.getloadavg()[0]:.1f}, {steal_seconds():.0f} s taken away since it started"
        assert beside <= 2 * alone, f"{beside:.2f} s beside the noise, {alone:.2f} s alone; {machine}"
