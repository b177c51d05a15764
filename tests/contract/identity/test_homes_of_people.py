"""Where a person belongs on SQLite and PostgreSQL: their tenants, going from one to another, names."""

from __future__ import annotations

import pytest

from handrail.core.errors import UsageError
from handrail.identity.errors import NotGranted, NotSignedIn
from handrail.identity.granting import console
from tests.contract.households import Turning
from tests.contract.identity.homes import ACME, OTHER, House

GOOD = "correct horse battery"


@pytest.mark.req("MT-01")
async def test_a_person_goes_from_one_tenant_of_theirs_to_another(house: House) -> None:
    here = await house.person("owner")
    token = await house.door.sign_in(str(here.user), ACME)
    assert [one.id for one in await house.door.tenants_of(here)] == [ACME]
    with pytest.raises(NotSignedIn):
        await house.door.switch(token, OTHER)
    there = await house.person("viewer", tenant=OTHER)
    assert [one.name for one in await house.door.tenants_of(here)] == ["Acme", "Other"]
    moved = await house.door.principal_from_session(await house.door.switch(token, OTHER))
    assert moved == there and not moved.holds("keys.manage")
    for nowhere in ("nowhere", "", "\x00", "\ud800", "x" * 10_000):
        with pytest.raises(NotSignedIn):
            await house.door.switch(token, nowhere)


@pytest.mark.fault("F28")
async def test_a_key_goes_nowhere_whoever_it_stands_for(house: House) -> None:
    boss = await house.person("owner")
    await house.person("owner", tenant=OTHER)
    key, _ = await house.keys.make(boss, "mine", "agent", user=boss.user)
    with pytest.raises(NotSignedIn):
        await house.door.switch(key.reveal(), OTHER)
    assert await house.door.tenants_of(await house.door.principal_of(key.reveal())) == []


async def test_a_password_leads_to_where_one_was_last_else_to_the_first_by_name(
    house: House, turning: Turning
) -> None:
    async def lands() -> str:
        token = await house.passwords.sign_in("ana@example.com", GOOD)
        return (await house.door.principal_from_session(token)).tenant

    user = await house.people.add_member(console(OTHER), "ana@example.com", ["viewer"])
    token = await house.passwords.choose(await house.door.sign_in(user.id, OTHER), GOOD)
    await house.people.add_member(console(ACME), "ana@example.com", ["viewer"])
    assert await lands() == OTHER
    turning.turn(1)
    token = await house.door.switch(token, ACME)
    turning.turn(1)
    assert await lands() == ACME
    await house.people.remove_member(console(ACME), user.id)
    assert await lands() == OTHER


async def test_members_are_shown_by_name_and_strangers_are_not(house: House, turning: Turning) -> None:
    ana = await house.person("viewer")
    eve = await house.person("owner", tenant=OTHER, email="eve@example.com")
    ids = [str(ana.user), str(eve.user), "nobody"]
    assert await house.people.names(ACME, ids) == {ana.user: "ana@example.com"}
    assert await house.people.names(OTHER, ids) == {eve.user: "eve@example.com"}
    await house.people.rename(ana, "  Ana   Costa ")
    assert await house.people.names(ACME, ids) == {ana.user: "Ana Costa"}
    assert (await house.people.profile(ana)).name == "Ana Costa"
    await house.people.remove_member(console(ACME), str(ana.user))
    turning.turn(10)
    assert await house.people.names(ACME, ids) == {}


async def test_names_that_were_just_read_are_not_read_again(house: House, turning: Turning) -> None:
    ana = await house.person("viewer")
    elsewhere = House(house.people._db)
    assert await house.people.names(ACME, [str(ana.user)]) == {ana.user: "ana@example.com"}
    await elsewhere.people.rename(ana, "Ana")
    assert await house.people.names(ACME, [str(ana.user)]) == {ana.user: "ana@example.com"}
    turning.turn(10)
    assert await house.people.names(ACME, [str(ana.user)]) == {ana.user: "Ana"}


@pytest.mark.parametrize("name", ["", "   ", "x" * 101, "a\u202eb"])
async def test_a_name_is_something_that_can_be_read(house: House, name: str) -> None:
    ana = await house.person("viewer")
    with pytest.raises(UsageError, match="1 to 100 characters"):
        await house.people.rename(ana, name)


async def test_an_agent_renames_nobody(house: House) -> None:
    boss = await house.person("owner")
    key, _ = await house.keys.make(boss, "helper", "agent", user=boss.user)
    with pytest.raises(NotGranted):
        await house.people.rename(await house.door.principal_of(key.reveal()), "Mallory")


async def test_to_sign_out_here_ends_this_session_and_no_other(house: House, turning: Turning) -> None:
    ana = await house.person("viewer")
    here = await house.door.sign_in(str(ana.user), ACME)
    turning.turn(1)
    there = await house.door.sign_in(str(ana.user), ACME)
    elsewhere = House(house.people._db)
    assert await elsewhere.door.principal_from_session(here) == ana
    assert await house.door.end(here)
    turning.turn(1)  # another server believes what it read for a second
    for door in (house.door, elsewhere.door):
        with pytest.raises(NotSignedIn):
            await door.principal_from_session(here)
        assert await door.principal_from_session(there) == ana
    assert not await house.door.end("hs1.no.token")
