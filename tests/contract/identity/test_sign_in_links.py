"""Sign-in links and audiences on SQLite and PostgreSQL: what opens which door, and how often."""

from __future__ import annotations

import asyncio

import pytest

from handrail.core.errors import UsageError
from handrail.identity.errors import NotGranted, NotSignedIn
from handrail.identity.granting import console
from tests.contract.households import Turning
from tests.contract.identity.homes import ACME, OTHER, House


async def test_a_link_lets_one_person_in_once(house: House) -> None:
    boss = await house.person("owner")
    link = (await house.door.make_link(str(boss.user), ACME)).reveal()
    tries = await asyncio.gather(*(house.door.use_link(link) for _ in range(8)), return_exceptions=True)
    tokens = [one for one in tries if isinstance(one, str)]
    assert len(tokens) == 1 and all(isinstance(one, (str, NotSignedIn)) for one in tries)
    assert await house.door.principal_from_session(tokens[0]) == boss
    with pytest.raises(NotSignedIn):
        await house.door.use_link(link)


async def test_a_link_is_no_key_and_a_key_is_no_link(house: House) -> None:
    boss = await house.person("owner")
    link = (await house.door.make_link(str(boss.user), ACME)).reveal()
    key = (await house.keys.make(console(ACME), "nightly"))[0].reveal()
    for tried in (link, "hr" + link[2:]):
        with pytest.raises(NotSignedIn):
            await house.door.principal_of(tried)
    for tried in (key, "hl" + key[2:], link[:-1], link.replace(ACME, OTHER), "", "hl"):
        with pytest.raises(NotSignedIn):
            await house.door.use_link(tried)
    assert await house.door.use_link(link)


async def test_a_link_that_is_over_or_of_somebody_who_left_opens_nothing(
    house: House, turning: Turning
) -> None:
    boss = await house.person("viewer")
    late = (await house.door.make_link(str(boss.user), ACME, lifetime=10)).reveal()
    turning.turn(11)
    with pytest.raises(NotSignedIn):
        await house.door.use_link(late)
    left = (await house.door.make_link(str(boss.user), ACME)).reveal()
    await house.people.remove_member(console(ACME), str(boss.user))
    with pytest.raises(NotSignedIn):
        await house.door.use_link(left)
    with pytest.raises(NotSignedIn):
        await house.door.make_link(str(boss.user), ACME)


@pytest.mark.fault("F28")
async def test_a_key_that_was_made_for_one_door_opens_no_other(house: House) -> None:
    by = console(ACME)
    text, kept = await house.keys.make(by, "claude", audience="mcp")
    anywhere, _ = await house.keys.make(by, "all")
    assert kept in await house.keys.list(by) and kept.audience == "mcp"
    for _ in range(2):  # read, and remembered
        assert (await house.door.principal_of(text.reveal(), "mcp")).agent == "claude"
        with pytest.raises(NotSignedIn):
            await house.door.principal_of(text.reveal(), "api")
        for door in ("api", "mcp", None):
            assert (await house.door.principal_of(anywhere.reveal(), door)).agent == "all"
    with pytest.raises(UsageError, match="api or mcp"):
        await house.keys.make(by, "odd", audience="garden")


@pytest.mark.req("PM-17")
async def test_an_agent_lets_nobody_in_whatever_its_key_holds(house: House) -> None:
    boss = await house.person("owner")
    text, _ = await house.keys.make(boss, "helper", "agent", user=boss.user)
    agent = await house.door.principal_of(text.reveal())
    assert agent.holds("keys.manage")
    tries = (
        lambda: house.keys.make(agent, "another"),
        lambda: house.keys.list(agent),
        lambda: house.people.add_member(agent, "eve@example.com", ["owner"]),
        lambda: house.people.save_role(agent, "night-shift", ["runs.read"]),
        lambda: house.people.rename_tenant(agent, "Mine"),
    )
    for attempt in tries:
        with pytest.raises(NotGranted, match="a person looks after"):
            await attempt()
