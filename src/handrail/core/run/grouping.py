"""Grouping: the calls of a pass as batches, for those who run them in a loop of their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from handrail.core.define.call import Call
from handrail.core.guard.admit import Admitted, admit
from handrail.core.guard.footprint import ALONE, FREE, Footprint, footprint_of
from handrail.core.run.house import House
from handrail.core.run.refusal import Refusal
from handrail.core.run.seek import seek

GroupKind = Literal["parallel", "conditional", "sequential"]


@dataclass(frozen=True, slots=True)
class Group:
    """Calls that may run at once. Groups run one after the other."""

    kind: GroupKind
    """`conditional`: at once only because what they write differs. `sequential`: a single call."""
    calls: tuple[Call, ...]


async def group_tool_calls_into_batches(asked: Iterable[tuple[Call, Any]], house: House) -> list[Group]:
    """Groups whose calls do not touch each other, in the order of the calls."""
    footprints = [(call, await _footprint(call, raw, house)) for call, raw in asked]
    groups: list[Group] = []
    here: list[tuple[Call, Footprint]] = []
    for call, footprint in footprints:
        if any(footprint.clashes(other) for _, other in here):
            groups.append(_group(here))
            here = []
        here.append((call, footprint))
    return [*groups, _group(here)] if here else groups


def _group(members: list[tuple[Call, Footprint]]) -> Group:
    calls = tuple(call for call, _ in members)
    if any(footprint.alone for _, footprint in members):
        return Group("sequential", calls)
    return Group("conditional" if any(footprint.writes for _, footprint in members) else "parallel", calls)


async def _footprint(call: Call, raw: Any, house: House) -> Footprint:
    """A call that will be refused touches nothing; of a tool that is not there nobody knows what it would."""
    tool = await seek(call, house)
    if isinstance(tool, Refusal):
        return ALONE
    assert call.principal is not None
    if house.guard.see(tool, call.principal).verdict == "deny":
        return ALONE
    admitted = admit(tool, raw, call.tool, house.repairing)
    if not isinstance(admitted, Admitted):
        return FREE
    return footprint_of(tool, admitted.values, admitted.args, house.init.working_dir)
