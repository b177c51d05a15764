"""What every place for standing approvals does: in memory, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from handrail import Principal
from tests.contract.backends import KINDS, Backend, backend_of

ANA = Principal("acme", "ana", permissions={"posts"}, agent="ops")
pytestmark = pytest.mark.req("AP-10")


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest) -> Iterator[Backend]:
    yield from backend_of(request)


async def test_what_was_given_holds_also_in_another_process(place: Backend) -> None:
    process = place.process()
    assert not await process.standing.holds(ANA, "s1", "d1")
    for _ in range(2):
        process.standing.give(ANA, "s1", "d1", "bo")
    await process.settled()
    assert await place.process().standing.holds(Principal.from_dict(ANA.to_dict()), "s1", "d1")


@pytest.mark.parametrize(
    "other",
    [
        (ANA, "s2", "d1"),
        (ANA, "s1", "d2"),
        (replace(ANA, tenant="other"), "s1", "d1"),
        (replace(ANA, user="bo"), "s1", "d1"),
        (replace(ANA, permissions=frozenset({"posts", "more"})), "s1", "d1"),
        (replace(ANA, ceiling="read"), "s1", "d1"),
        (ANA.spawn("ops"), "s1", "d1"),
    ],
    ids=["session", "definition", "tenant", "user", "permissions", "ceiling", "sub-agent"],
)
async def test_it_holds_for_nothing_else(place: Backend, other: tuple[Principal, str, str]) -> None:
    process = place.process()
    process.standing.give(ANA, "s1", "d1", None)
    await process.settled()
    assert not await place.process().standing.holds(*other)
