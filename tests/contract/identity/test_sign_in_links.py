"""Sign-in links and audiences on SQLite and PostgreSQL: what opens which door, and how often."""

from __future__ import annotations

import asyncio

import pytest

from handrail.core.errors import UsageError
from handrail.identity.errors import NotSignedIn, PermissionDenied
from handrail.identity.permissions import console_principal
from tests.contract.identity.setup import ACME, OTHER, IdentitySetup
from tests.contract.tenant_database import FakeTime


async def test_a_link_lets_one_person_in_once(identity: IdentitySetup) -> None:
    boss = await identity.person("owner")
    link = (await identity.authenticator.make_link(str(boss.user), ACME)).reveal()
    tries = await asyncio.gather(
        *(identity.authenticator.use_link(link) for _ in range(8)), return_exceptions=True
    )
    tokens = [one for one in tries if isinstance(one, str)]
    assert len(tokens) == 1 and all(isinstance(one, (str, NotSignedIn)) for one in tries)
    assert await identity.authenticator.principal_from_session(tokens[0]) == boss
    with pytest.raises(NotSignedIn):
        await identity.authenticator.use_link(link)


async def test_a_link_is_no_key_and_a_key_is_no_link(identity: IdentitySetup) -> None:
    boss = await identity.person("owner")
    link = (await identity.authenticator.make_link(str(boss.user), ACME)).reveal()
    key = (await identity.keys.make(console_principal(ACME), "nightly"))[0].reveal()
    for tried in (link, "hr" + link[2:]):
        with pytest.raises(NotSignedIn):
            await identity.authenticator.principal_of(tried)
    for tried in (key, "hl" + key[2:], link[:-1], link.replace(ACME, OTHER), "", "hl"):
        with pytest.raises(NotSignedIn):
            await identity.authenticator.use_link(tried)
    assert await identity.authenticator.use_link(link)


async def test_a_link_that_is_over_or_of_somebody_who_left_opens_nothing(
    identity: IdentitySetup, turning: FakeTime
) -> None:
    boss = await identity.person("viewer")
    late = (await identity.authenticator.make_link(str(boss.user), ACME, lifetime=10)).reveal()
    turning.turn(11)
    with pytest.raises(NotSignedIn):
        await identity.authenticator.use_link(late)
    left = (await identity.authenticator.make_link(str(boss.user), ACME)).reveal()
    await identity.people.remove_member(console_principal(ACME), str(boss.user))
    with pytest.raises(NotSignedIn):
        await identity.authenticator.use_link(left)
    with pytest.raises(NotSignedIn):
        await identity.authenticator.make_link(str(boss.user), ACME)


@pytest.mark.fault("F28")
async def test_a_key_that_was_made_for_one_door_opens_no_other(identity: IdentitySetup) -> None:
    by = console_principal(ACME)
    text, kept = await identity.keys.make(by, "claude", audience="mcp")
    anywhere, _ = await identity.keys.make(by, "all")
    assert kept in await identity.keys.list(by) and kept.audience == "mcp"
    for _ in range(2):  # read, and remembered
        assert (await identity.authenticator.principal_of(text.reveal(), "mcp")).agent == "claude"
        with pytest.raises(NotSignedIn):
            await identity.authenticator.principal_of(text.reveal(), "api")
        for authenticator in ("api", "mcp", None):
            assert (
                await identity.authenticator.principal_of(anywhere.reveal(), authenticator)
            ).agent == "all"
    with pytest.raises(UsageError, match="api or mcp"):
        await identity.keys.make(by, "odd", audience="garden")


@pytest.mark.req("PM-17")
async def test_an_agent_lets_nobody_in_whatever_its_key_holds(identity: IdentitySetup) -> None:
    boss = await identity.person("owner")
    text, _ = await identity.keys.make(boss, "helper", "agent", user=boss.user)
    agent = await identity.authenticator.principal_of(text.reveal())
    assert agent.holds("keys.manage")
    tries = (
        lambda: identity.keys.make(agent, "another"),
        lambda: identity.keys.list(agent),
        lambda: identity.people.add_member(agent, "eve@example.com", ["owner"]),
        lambda: identity.people.save_role(agent, "night-shift", ["runs.read"]),
        lambda: identity.people.rename_tenant(agent, "Mine"),
    )
    for attempt in tries:
        with pytest.raises(PermissionDenied, match="a person looks after"):
            await attempt()
