"""What a person sees instead: the guard asks people to confirm what it asks others to decide for agents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from handrail.core.define.call import Status
from handrail.core.define.levels import Source
from tests.acceptance.forked_cli import ForkedCli
from tests.parity.cases import Case, Decide
from tests.parity.doors.cli import Cli
from tests.parity.doors.library import Library
from tests.parity.doors.rest import rest
from tests.parity.people import open_shop
from tests.parity.recorded_handrail import RecordedHandrail
from tests.parity.run_table import compare
from tests.parity.test_parity import holds

CONFIRM = Decide("approve", by="caller")
TABLE: tuple[tuple[Case, Status, Status], ...] = (
    (Case("good", "stock.count", {"item": "bolt"}), "completed", "completed"),
    (Case("coerced", "stock.count", {"item": "bolt", "limit": "3"}), "completed", "completed"),
    (Case("good", "stock.audit", {}), "completed", "pending"),
    (Case("good", "stock.order", {"item": "bolt", "pieces": 5}), "completed", "pending"),
    (Case("gated", "stock.drop", {"item": "bolt"}), "pending", "pending"),
    (Case("gated", "stock.purge", {"dry_run": False}), "pending", "pending"),
    (Case("decided", "stock.drop", {"item": "cog"}, decide=CONFIRM), "completed", "pending"),
    (Case("invalid", "stock.count", {}), "refused", "refused"),
    (Case("unknown", "stock.missing", {}), "refused", "refused"),
    (Case("hidden", "stock.elsewhere", {}), "refused", "refused"),
    (Case("forbidden", "stock.vault", {}), "refused", "refused"),
    (Case("failing", "fail.raise", {}), "failed", "failed"),
    (Case("masked", "words.login", {"pin": "1234"}), "completed", "completed"),
)
"""A call, how it ends for a person, and how for an agent of theirs that must be careful."""


def made_by(who: str) -> tuple[Case, ...]:
    return tuple(replace(case, who=who) for case, _, _ in TABLE)


@pytest.mark.req("BY-01")
@pytest.mark.parametrize(
    ("who", "source"), [("person", "cli"), ("person", "web"), ("own key", "api")], ids=lambda one: str(one)
)
async def test_a_person_is_asked_less_than_an_agent(who: str, source: Source, tmp_path: Path) -> None:
    async with open_shop(tmp_path) as hr:
        people = Library(RecordedHandrail(hr), source, str, str)
        agents = Library(RecordedHandrail(hr), "agent", str, str)
        for case, of_person, of_agent in TABLE:
            assert (await people.ask(replace(case, who=who)))[0].status == of_person, case.name
            unanswered = replace(case, who="careful", decide=None)
            assert (await agents.ask(unanswered))[0].status == of_agent, case.name


@pytest.mark.req("BY-01")
@pytest.mark.parametrize(("who", "source"), [("person", "web"), ("own key", "api")])
async def test_rest_does_for_a_person_as_the_library(who: str, source: Source, tmp_path: Path) -> None:
    cases = made_by(who)
    async with (
        open_shop(tmp_path) as reference,
        open_shop(tmp_path) as hr,
        rest(RecordedHandrail(hr), source) as door,
    ):
        passed = await compare(door, RecordedHandrail(reference), cases)
    holds(passed, cases)


@pytest.mark.req("BY-01")
@pytest.mark.timeout(300)
async def test_the_command_line_does_for_a_person_as_the_library(
    forked_cli: ForkedCli, tmp_path: Path
) -> None:
    """In a pipe, where nobody can be asked; what a terminal asks is tested with one."""
    cases = made_by("person")
    door = Cli(forked_cli, tmp_path, "cli")
    try:
        async with open_shop(tmp_path) as hr:
            passed = await compare(door, RecordedHandrail(hr), cases)
    finally:
        await door.close()
    holds(passed, cases)
