"""Whose: a call that somebody asks for by its id, if it is theirs or they may see everybody's."""

from __future__ import annotations

from dataclasses import dataclass

from handrail.core.define.permission import Source
from handrail.core.define.principal import Principal
from handrail.core.errors import ToolError
from handrail.core.run.perform import DUPLICATE_OF
from handrail.core.tell.events import Event
from handrail.doors.http.record import Record
from handrail.doors.http.refusing import Refused, no_such
from handrail.platform import Platform

LONGEST = 200


def plausible(name: str) -> bool:
    """Whether an id could be one of ours; what is not need not be looked up."""
    return 0 < len(name) <= LONGEST and name.isprintable()


@dataclass(frozen=True, slots=True)
class Known:
    """A call that may be asked for."""

    id: str
    first: Event | None
    """None while a worker has not begun it."""

    @property
    def session(self) -> str | None:
        return None if self.first is None else self.first.session


async def known_call(
    platform: Platform, call_id: str, who: Principal, permission: str, source: Source
) -> Known:
    """The call; for whoever may not see it there is none."""
    if plausible(call_id):
        record = Record(platform)
        first = await record.first(who.tenant, call_id)
        if first is None:
            maker, tool = await _of_job(platform, call_id, who)
            if tool and maker is None:  # it may have begun and ended between the two looks
                first = await record.first(who.tenant, call_id)
        if first is not None:
            maker, tool = first.call.principal, first.tool
        if tool and (
            who.holds(permission)
            or (maker is not None and is_same(who, maker) and await _sees(platform, tool, who, source))
        ):
            return Known(call_id, first)
    raise no_such_call()


async def _of_job(platform: Platform, call_id: str, who: Principal) -> tuple[Principal | None, str]:
    """Who made a call of which nothing is told, and of what: it is queued, or another one was its answer."""
    jobs = platform.hr.jobs
    entry = await jobs.get(call_id, who)
    if entry is None:
        return None, ""
    if entry.reason is not None and entry.reason.startswith(DUPLICATE_OF):
        earlier = await Record(platform).first(who.tenant, entry.reason.removeprefix(DUPLICATE_OF))
        return None if earlier is None else earlier.call.principal, entry.tool
    return await jobs.caller(call_id, who), entry.tool


def no_such_call() -> Refused:
    return no_such("call")


def is_same(one: Principal, other: Principal) -> bool:
    """Whether two principals are the same somebody. Keys of nobody are told apart by all that they hold."""
    if one.user is None and one.agent is None:
        return one == other
    return _identity(one) == _identity(other)


def _identity(one: Principal) -> tuple[str | None, ...]:
    return one.tenant, one.user, one.agent, one.workspace


async def _sees(platform: Platform, tool: str, who: Principal, source: Source) -> bool:
    """Whether a tool is still shown to whoever called it; of one that is not, nothing is told any more."""
    try:
        await platform.hr.describe(tool, who, source=source)
    except ToolError as error:
        return error.code != "TOOL_NOT_FOUND"
    return True
