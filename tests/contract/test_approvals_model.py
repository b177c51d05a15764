"""Any sequence of answers leads every book to where a simple model says."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.core.guard.approval_request import Reply, RequestStatus
from handrail.ext.guard import reject, respond
from handrail.store.migrate import upgrade
from tests.contract.backends import Backend, open_backend
from tests.contract.test_approvals import question, yes

USERS = st.sampled_from(["ana", "bo", "cy", "di"])
STEPS = st.one_of(
    st.tuples(st.just("approved"), USERS, st.sampled_from(["h0", "h1"])),
    st.tuples(st.sampled_from(["rejected", "responded"]), USERS, st.just("")),
    st.tuples(st.sampled_from(["expired", "turn"]), st.just(""), st.just("")),
)
_number = count()


@dataclass
class Model:
    """One question that Ana's agent asked."""

    quorum: int
    four_eyes: bool
    expires: float | None
    status: str = "pending"
    votes: dict[str, str] = field(default_factory=dict)

    def hear(self, verb: str, user: str, arguments: str, now: float) -> str | None:
        """What becomes of it, or None when the word does not count."""
        late = self.expires is not None and now >= self.expires
        if self.status != "pending" or late != (verb == "expired"):
            return None
        if self.four_eyes and user == "ana" and verb != "rejected":
            return None
        if verb == "approved" and self.quorum > 1:
            if self.votes.get(user) == arguments:
                return None
            same = {one: given for one, given in self.votes.items() if given == arguments}
            self.votes = {**same, user: arguments}
            if len(self.votes) < self.quorum:
                return "pending"
        self.status = verb
        return verb


def said(verb: str, user: str, arguments: str) -> tuple[Any, Reply | None]:
    replies: dict[str, Reply | None] = {
        "approved": yes(user, None if arguments == "h0" else arguments),
        "rejected": reject(by=user),
        "responded": respond("done", by=user),
        "expired": None,
    }
    status: RequestStatus = verb  # type: ignore[assignment]
    return status, replies[verb]


@pytest.fixture(scope="module", params=["memory", "sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    """One place for all examples: each asks a question of its own."""
    name = ""

    def url_of(_: str) -> str:
        nonlocal name
        if request.param == "sqlite":
            url = f"sqlite:///{tmp_path_factory.mktemp('model') / 'handrail.db'}"
        else:
            server = request.getfixturevalue("postgres")
            name = server.create()
            url = str(server.url(name))
        upgrade(url)
        return url

    with open_backend(request.param, url_of) as found:
        yield found
    if name:
        request.getfixturevalue("postgres").drop(name)


@pytest.mark.req("AP-08", "BY-03", "BY-05")
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    quorum=st.integers(1, 3),
    four_eyes=st.booleans(),
    expires=st.booleans(),
    steps=st.lists(STEPS, min_size=1, max_size=8),
)
def test_every_sequence_of_answers_ends_as_the_model_does(
    place: Backend, quorum: int, four_eyes: bool, expires: bool, steps: list[tuple[str, str, str]]
) -> None:
    async def play() -> None:
        name = f"q{next(_number)}"
        process = place.process() if place.url is None or not place._open else place._open[0]
        due = place.clock.now() + 10 if expires else None
        model = Model(quorum, four_eyes, due)
        await process.book.add(question(name, quorum=quorum, four_eyes=four_eyes, expires_at=due))
        for verb, user, arguments in steps:
            if verb == "turn":
                place.clock.turn(6)
                continue
            settled = await process.book.settle(name, "acme", *said(verb, user, arguments))
            expected = model.hear(verb, user, arguments, place.clock.now())
            assert (None if settled is None else settled.status) == expected
        found = await process.book.get(name, "acme")
        assert found is not None
        late = model.status == "pending" and found.is_late(place.clock.now())
        assert found.status == ("expired" if late else model.status)
        assert {vote.user: vote.hash for vote in found.votes} == model.votes

    asyncio.run(play())
