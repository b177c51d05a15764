"""Tenants, people and roles on SQLite and PostgreSQL: who holds what, and who may give it."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.core.errors import UsageError
from handrail.core.find.visibility import DEFAULT_TENANT_ID
from handrail.identity.errors import NotGranted, NotSignedIn
from handrail.identity.granting import console
from handrail.store import tenants
from handrail.store.database import Database
from tests.contract.households import Turning
from tests.contract.identity.homes import ACME, OTHER, House


@pytest.mark.req("MT-01")
async def test_a_tenant_is_known_by_a_slug_that_stays(db: Database, house: House) -> None:
    made = await house.people.create_tenant("acme-berlin", "Acme Berlin")
    assert made.id == "acme-berlin"
    for taken in ("acme-berlin", ACME):
        with pytest.raises(UsageError, match="already"):
            await house.people.create_tenant(taken, "Again")
    assert await house.people.rename_tenant(console("acme-berlin"), "Acme East")
    assert [(one.id, one.name) for one in await house.people.tenants()] == [
        (ACME, "Acme"),
        ("acme-berlin", "Acme East"),
        (OTHER, "Other"),
    ]


async def test_nothing_is_given_to_a_tenant_that_is_not_there(db: Database, house: House) -> None:
    for attempt in (
        lambda: house.people.add_member(console("acmee"), "ana@example.com", ["viewer"]),
        lambda: house.keys.make(console("acmee"), "key"),
    ):
        with pytest.raises(UsageError, match="no tenant 'acmee'"):
            await attempt()


@pytest.mark.parametrize("slug", ["", "Acme", "a_b", "-a", "a--b", "a b", "a" * 64, "ä", DEFAULT_TENANT_ID])
def test_what_cannot_stand_in_a_key_or_an_address_names_no_tenant(slug: str) -> None:
    with pytest.raises(UsageError):
        tenants.check_slug(slug)


async def test_a_person_is_one_person_however_their_address_is_written(db: Database, house: House) -> None:
    one = await house.people.add_member(console(ACME), "Ana@Example.com ", ["viewer"])
    same = await house.people.add_member(console(OTHER), "ana@example.COM", ["owner"])
    assert one.id == same.id and one.email == "ana@example.com"
    for wrong in ("ana", "ana@", "@example.com", "a na@example.com", "ana@example", "a\n@example.com"):
        with pytest.raises(UsageError, match="not an e-mail address"):
            await house.people.add_member(console(ACME), wrong, ["viewer"])


@pytest.mark.req("PM-14", "MT-01")
async def test_a_person_holds_in_each_tenant_what_their_roles_there_give(db: Database, house: House) -> None:
    await house.people.save_role(console(ACME), "night-shift", ["alarms.read"])
    here = await house.person("viewer", "night-shift")
    there = await house.person("owner", tenant=OTHER)
    assert here.user == there.user and (here.tenant, there.tenant) == (ACME, OTHER)
    assert here.holds("alarms.read") and here.holds("runs.read") and not here.holds("keys.manage")
    assert there.holds("anything.at.all") and here.key == "person"
    assert "night-shift" not in await house.people.roles(console(OTHER))


@pytest.mark.req("PM-14", "PM-19")
async def test_a_role_that_changes_or_goes_changes_what_its_people_hold(
    db: Database, house: House, turning: Turning
) -> None:
    await house.people.save_role(console(ACME), "crew", ["alarms.read"])
    user = await house.people.add_member(console(ACME), "ana@example.com", ["crew"])
    token = await house.door.sign_in(user.id, ACME)
    assert (await house.door.principal_from_session(token)).holds("alarms.read")
    await house.people.delete_role(console(ACME), "crew")
    assert (await house.door.principal_from_session(token)).permissions == frozenset()
    elsewhere = House(db)
    await elsewhere.people.remove_member(console(ACME), user.id)
    turning.turn(1.0)
    with pytest.raises(NotSignedIn):
        await house.door.principal_from_session(token)


@pytest.mark.req("PM-14")
async def test_nobody_grants_what_they_do_not_hold(db: Database, house: House) -> None:
    admin = await house.person("admin")
    boss = await house.person("owner", email="boss@example.com")
    refused = (
        lambda: house.people.add_member(admin, "eve@example.com", ["owner"]),
        lambda: house.people.add_member(admin, "ana@example.com", ["owner"]),
        lambda: house.people.save_role(admin, "super", ["*"]),
        lambda: house.people.save_role(admin, "other", ["tenant.manage"]),
        lambda: house.people.remove_member(admin, str(boss.user)),
        lambda: house.people.remove_member(boss, str(boss.user)),
        lambda: house.keys.make(admin, "all", "service", permissions=["*"]),
        lambda: house.keys.make(admin, "hers", "person", user=boss.user),
        lambda: house.people.rename_tenant(admin, "Mine"),
    )
    for attempt in refused:
        with pytest.raises(NotGranted):
            await attempt()
    viewer = await house.person("viewer", email="vi@example.com")
    for denied in (
        lambda: house.people.members(viewer),
        lambda: house.people.add_member(viewer, "vi@example.com", ["viewer"]),
        lambda: house.people.save_role(viewer, "mine", []),
        lambda: house.keys.make(viewer, "mine"),
        lambda: house.keys.list(viewer),
    ):
        with pytest.raises(NotGranted, match="need the permission"):
            await denied()
    with pytest.raises(UsageError, match="no role 'emperor'"):
        await house.people.add_member(admin, "eve@example.com", ["emperor"])
    assert {user.email for user, _ in await house.people.members(boss)} == {
        "ana@example.com",
        "boss@example.com",
        "vi@example.com",
    }


@pytest.mark.req("PM-14")
async def test_whoever_holds_a_bounded_key_gives_no_role_since_a_role_has_no_bounds(house: House) -> None:
    boss = await house.person("owner")
    bounds: list[dict[str, Any]] = [{"ceiling": "read"}, {"tools": ["stock.*"]}]
    for one in bounds:
        text_, _ = await house.keys.make(boss, "bounded", "service", user=boss.user, **one)
        bounded = await house.door.principal_of(text_.reveal())
        assert bounded.holds("members.manage") and bounded.holds("roles.manage")
        with pytest.raises(NotGranted, match="Your own key reaches"):
            await house.people.add_member(bounded, "eve@example.com", ["owner"])
        with pytest.raises(NotGranted, match="Your own key reaches"):
            await house.people.save_role(bounded, "all", ["*"])
    assert [user.email for user, _ in await house.people.members(boss)] == ["ana@example.com"]
