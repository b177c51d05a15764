"""Passing: the table through one door, beside the library; what differs, in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from handrail import Outcome
from handrail.core.define.levels import Source
from tests.parity.cases import Case, Need
from tests.parity.compare import Events, Observation, difference
from tests.parity.doors.library import Library
from tests.parity.omissions import LACKS
from tests.parity.recorded_handrail import RecordedHandrail


class Door(Protocol):
    """One way to the tools. Each lies in a file of its own."""

    @property
    def name(self) -> str: ...
    @property
    def source(self) -> Source: ...
    def spelled(self, tool: str, /) -> str:
        """A tool's name as this door has it."""

    def keyed(self, key: str, /) -> str:
        """A caller's key as this door has it."""

    async def ask(self, case: Case, told: int, /) -> Observation:
        """Make the call, of which the library told so many events."""

    def carries(self, outcome: Outcome, case: Case, events: Events, /) -> Any:
        """What this door must answer to what the library answers so."""


@dataclass(slots=True)
class PassResult:
    """What came of a pass."""

    differences: list[str] = field(default_factory=list)
    asked: list[Case] = field(default_factory=list)
    left_out: list[tuple[Case, frozenset[Need]]] = field(default_factory=list)


async def compare(door: Door, reference: RecordedHandrail, cases: Iterable[Case]) -> PassResult:
    """Make each call both ways, one after the other."""
    library = Library(reference, door.source, door.spelled, door.keyed)
    passed = PassResult()
    for case in cases:
        needs: frozenset[Need] = case.needs
        if not await library.lists(case):
            needs |= {"unlisted"}
        if lacking := needs & LACKS[door.name].keys():
            passed.left_out.append((case, lacking))
            continue
        passed.asked.append(case)
        outcome, events = await library.ask(case)
        wanted = Observation(events, door.carries(outcome, case, events))
        found = difference(wanted, await door.ask(case, len(events)))
        if found is not None:
            passed.differences.append(f"{door.name}, {case.name[:200]}\n{found}")
    return passed
