"""Where a person belongs on SQLite and PostgreSQL: their tenants, going from one to another, names."""

from __future__ import annotations

import pytest

from handrail.core.errors import UsageError
from handrail.identity.errors import NotSignedIn, PermissionDenied
from handrail.identity.permissions import console_principal
from tests.contract.identity.setup import ACME, OTHER, IdentitySetup
from tests.contract.tenant_database import FakeTime

GOOD = "correct horse battery"


@pytest.mark.req("MT-01")
async def test_a_person_goes_from_one_tenant_of_theirs_to_another(identity: IdentitySetup) -> None:
    here = await identity.person("owner")
    token = await identity.authenticator.sign_in(str(here.user), ACME)
    assert [one.id for one in await identity.authenticator.tenants_of(here)] == [ACME]
    with pytest.raises(NotSignedIn):
        await identity.authenticator.switch(token, OTHER)
    there = await identity.person("viewer", tenant=OTHER)
    assert [one.name for one in await identity.authenticator.tenants_of(here)] == ["Acme", "Other"]
    moved = await identity.authenticator.principal_from_session(
        await identity.authenticator.switch(token, OTHER)
    )
    assert moved == there and not moved.holds("keys.manage")
    for nowhere in ("nowhere", "", "\x00", "\ud800", "x" * 10_000):
        with pytest.raises(NotSignedIn):
            await identity.authenticator.switch(token, nowhere)


@pytest.mark.fault("F28")
async def test_a_key_goes_nowhere_whoever_it_stands_for(identity: IdentitySetup) -> None:
    boss = await identity.person("owner")
    await identity.person("owner", tenant=OTHER)
    key, _ = await identity.keys.make(boss, "mine", "agent", user=boss.user)
    with pytest.raises(NotSignedIn):
        await identity.authenticator.switch(key.reveal(), OTHER)
    assert (
        await identity.authenticator.tenants_of(await identity.authenticator.principal_of(key.reveal())) == []
    )


async def test_a_password_leads_to_where_one_was_last_else_to_the_first_by_name(
    identity: IdentitySetup, turning: FakeTime
) -> None:
    async def lands() -> str:
        token = await identity.passwords.sign_in("ana@example.com", GOOD)
        return (await identity.authenticator.principal_from_session(token)).tenant

    user = await identity.people.add_member(console_principal(OTHER), "ana@example.com", ["viewer"])
    token = await identity.passwords.choose(await identity.authenticator.sign_in(user.id, OTHER), GOOD)
    await identity.people.add_member(console_principal(ACME), "ana@example.com", ["viewer"])
    assert await lands() == OTHER
    turning.turn(1)
    token = await identity.authenticator.switch(token, ACME)
    turning.turn(1)
    assert await lands() == ACME
    await identity.people.remove_member(console_principal(ACME), user.id)
    assert await lands() == OTHER


async def test_members_are_shown_by_name_and_strangers_are_not(
    identity: IdentitySetup, turning: FakeTime
) -> None:
    ana = await identity.person("viewer")
    eve = await identity.person("owner", tenant=OTHER, email="eve@example.com")
    ids = [str(ana.user), str(eve.user), "nobody"]
    assert await identity.people.names(ACME, ids) == {ana.user: "ana@example.com"}
    assert await identity.people.names(OTHER, ids) == {eve.user: "eve@example.com"}
    await identity.people.rename(ana, "  Ana   Costa ")
    assert await identity.people.names(ACME, ids) == {ana.user: "Ana Costa"}
    assert (await identity.people.profile(ana)).name == "Ana Costa"
    await identity.people.remove_member(console_principal(ACME), str(ana.user))
    turning.turn(10)
    assert await identity.people.names(ACME, ids) == {}


async def test_names_that_were_just_read_are_not_read_again(
    identity: IdentitySetup, turning: FakeTime
) -> None:
    ana = await identity.person("viewer")
    elsewhere = IdentitySetup(identity.people._db)
    assert await identity.people.names(ACME, [str(ana.user)]) == {ana.user: "ana@example.com"}
    await elsewhere.people.rename(ana, "Ana")
    assert await identity.people.names(ACME, [str(ana.user)]) == {ana.user: "ana@example.com"}
    turning.turn(10)
    assert await identity.people.names(ACME, [str(ana.user)]) == {ana.user: "Ana"}


@pytest.mark.parametrize("name", ["", "   ", "x" * 101, "a\u202eb"])
async def test_a_name_is_something_that_can_be_read(identity: IdentitySetup, name: str) -> None:
    ana = await identity.person("viewer")
    with pytest.raises(UsageError, match="1 to 100 characters"):
        await identity.people.rename(ana, name)


async def test_an_agent_renames_nobody(identity: IdentitySetup) -> None:
    boss = await identity.person("owner")
    key, _ = await identity.keys.make(boss, "helper", "agent", user=boss.user)
    with pytest.raises(PermissionDenied):
        await identity.people.rename(await identity.authenticator.principal_of(key.reveal()), "Mallory")


async def test_to_sign_out_here_ends_this_session_and_no_other(
    identity: IdentitySetup, turning: FakeTime
) -> None:
    ana = await identity.person("viewer")
    here = await identity.authenticator.sign_in(str(ana.user), ACME)
    turning.turn(1)
    there = await identity.authenticator.sign_in(str(ana.user), ACME)
    elsewhere = IdentitySetup(identity.people._db)
    assert await elsewhere.authenticator.principal_from_session(here) == ana
    assert await identity.authenticator.end(here)
    turning.turn(1)  # another server believes what it read for a second
    for authenticator in (identity.authenticator, elsewhere.authenticator):
        with pytest.raises(NotSignedIn):
            await authenticator.principal_from_session(here)
        assert await authenticator.principal_from_session(there) == ana
    assert not await identity.authenticator.end("hs1.no.token")
