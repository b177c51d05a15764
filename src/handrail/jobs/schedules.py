"""Schedules: calls that are made again and again. Each time is one job, however many workers look."""

from __future__ import annotations

import builtins
import logging
import math
from collections.abc import Callable, Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlalchemy import Connection

from handrail.core.define.call import BoundCall
from handrail.core.define.principal import Principal
from handrail.core.errors import UsageError
from handrail.core.run.jobs.job import Job
from handrail.core.run.jobs.schedules import Schedule
from handrail.store import schedules as rows
from handrail.store.codec import decode_call, dump, encode_call, load
from handrail.store.database import Database
from handrail.store.encryption import Seal
from handrail.store.schedules import ScheduleRow

_log = logging.getLogger("handrail.jobs")

AddJob = Callable[[Connection, Job], object]


def next_due(moment: float, cron: str | None, every: float | None, zone: str | None) -> float:
    """The first time after a moment at which a schedule is due."""
    if every is not None:
        if not (math.isfinite(every) and every >= 1):
            raise UsageError(f"A schedule runs every so many seconds, at least 1, not {every!r}.")
        return moment + every
    from croniter import croniter

    try:
        time_zone = ZoneInfo(zone or "UTC")
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise UsageError(f"There is no time zone {zone!r}. Give one such as 'Europe/Berlin'.") from error
    try:
        times = croniter(cron or "", datetime.fromtimestamp(moment, time_zone))
        due = times.get_next(datetime).timestamp()
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{cron!r} is not a schedule ({error}). Give five fields, such as '0 6 * * 1' for Mondays at six."
        ) from error
    return float(due)


def call_id_of(tenant: str, name: str, at: float) -> str:
    """The id of the call that a schedule makes at one time: the same for whoever makes it."""
    return f"call_{sha256(dump([tenant, name, at]).encode()).hexdigest()[:24]}"


class Schedules:
    """The schedules of one database."""

    def __init__(self, database: Database, seal: Seal, add: AddJob) -> None:
        self._database = database
        self._seal = seal
        self._add = add

    async def put(
        self,
        name: str,
        tool: str,
        args: Mapping[str, Any] | None = None,
        *,
        principal: Principal,
        cron: str | None = None,
        every: float | None = None,
        zone: str | None = None,
        session: str | None = None,
    ) -> Schedule:
        """Have a tool called by `cron` or `every` so many seconds, in the place of what had this name.

        Each call goes through the whole guard when its time has come.
        """
        if (cron is None) == (every is None):
            raise UsageError("Say when: give either cron='0 6 * * *' or every=3600.")
        now = self._database.clock.now()
        call = BoundCall(tool, principal, "", "job", session)
        exact = {"call": encode_call(call), "raw": dict(args or {})}
        sealed = self._seal.close(principal.tenant, dump(exact), f"schedule:{name}")
        at = next_due(now, cron, every, zone)
        row = ScheduleRow(principal.tenant, name, tool, sealed, cron, every, zone, at, None, True)
        await self._database.write(principal.tenant, rows.put_schedule, principal.tenant, row, now)
        return _schedule_of_row(row)

    async def list(self, principal: Principal) -> builtins.list[Schedule]:
        stored = await self._database.read(principal.tenant, rows.list_schedules, principal.tenant)
        return [_schedule_of_row(row) for row in stored]

    async def remove(self, name: str, principal: Principal) -> bool:
        tenant = principal.tenant
        return await self._database.write(tenant, rows.remove_schedule, tenant, name)

    async def fire(self) -> int:
        """Make the calls that are due; how many. What was missed is made up for once, not many times."""
        now = self._database.clock.now()
        fired = 0
        for row in await self._database.read_all(rows.due_schedules, now):
            try:
                fired += await self._fire_one(row, now)
            except Exception:  # such as one whose key is lost: it holds up no other
                _log.exception("the schedule %r of %s could not be fired", row.name, row.tenant)
        return fired

    async def _fire_one(self, row: ScheduleRow, now: float) -> bool:
        call_id = call_id_of(row.tenant, row.name, row.next_at)
        exact = load(self._seal.open(row.tenant, row.sealed, f"schedule:{row.name}"))
        job = Job(decode_call({**exact["call"], "id": call_id}), row.tool, exact["raw"], kind="scheduled")
        after = next_due(now, row.cron, row.every, row.zone)

        def fire(conn: Connection) -> bool:
            won = rows.fire_schedule(conn, row.tenant, row.name, row.next_at, after, call_id, now)
            if won:
                self._add(conn, job)
            return won

        return await self._database.write(row.tenant, fire)


def _schedule_of_row(row: ScheduleRow) -> Schedule:
    when = row.cron if row.cron is not None else f"every {row.every:g} s"
    return Schedule(row.name, row.tool, when, row.next_at, row.last_call_id)
