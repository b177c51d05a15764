"""Tenants, people and roles on SQLite and PostgreSQL: who holds what, and who may give it."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.core.errors import UsageError
from handrail.core.find.visibility import DEFAULT_TENANT_ID
from handrail.identity.errors import NotSignedIn, PermissionDenied
from handrail.identity.permissions import console_principal
from handrail.store import tenants
from handrail.store.database import Database
from tests.contract.identity.setup import ACME, OTHER, IdentitySetup
from tests.contract.tenant_database import FakeTime


@pytest.mark.req("MT-01")
async def test_a_tenant_is_known_by_a_slug_that_stays(db: Database, identity: IdentitySetup) -> None:
    made = await identity.people.create_tenant("acme-berlin", "Acme Berlin")
    assert made.id == "acme-berlin"
    for taken in ("acme-berlin", ACME):
        with pytest.raises(UsageError, match="already"):
            await identity.people.create_tenant(taken, "Again")
    assert await identity.people.rename_tenant(console_principal("acme-berlin"), "Acme East")
    assert [(one.id, one.name) for one in await identity.people.tenants()] == [
        (ACME, "Acme"),
        ("acme-berlin", "Acme East"),
        (OTHER, "Other"),
    ]


async def test_nothing_is_given_to_a_tenant_that_is_not_there(db: Database, identity: IdentitySetup) -> None:
    for attempt in (
        lambda: identity.people.add_member(console_principal("acmee"), "ana@example.com", ["viewer"]),
        lambda: identity.keys.make(console_principal("acmee"), "key"),
    ):
        with pytest.raises(UsageError, match="no tenant 'acmee'"):
            await attempt()


@pytest.mark.parametrize("slug", ["", "Acme", "a_b", "-a", "a--b", "a b", "a" * 64, "ä", DEFAULT_TENANT_ID])
def test_what_cannot_stand_in_a_key_or_an_address_names_no_tenant(slug: str) -> None:
    with pytest.raises(UsageError):
        tenants.check_slug(slug)


async def test_a_person_is_one_person_however_their_address_is_written(
    db: Database, identity: IdentitySetup
) -> None:
    one = await identity.people.add_member(console_principal(ACME), "Ana@Example.com ", ["viewer"])
    same = await identity.people.add_member(console_principal(OTHER), "ana@example.COM", ["owner"])
    assert one.id == same.id and one.email == "ana@example.com"
    for wrong in ("ana", "ana@", "@example.com", "a na@example.com", "ana@example", "a\n@example.com"):
        with pytest.raises(UsageError, match="not an e-mail address"):
            await identity.people.add_member(console_principal(ACME), wrong, ["viewer"])


@pytest.mark.req("PM-14", "MT-01")
async def test_a_person_holds_in_each_tenant_what_their_roles_there_give(
    db: Database, identity: IdentitySetup
) -> None:
    await identity.people.save_role(console_principal(ACME), "night-shift", ["alarms.read"])
    here = await identity.person("viewer", "night-shift")
    there = await identity.person("owner", tenant=OTHER)
    assert here.user == there.user and (here.tenant, there.tenant) == (ACME, OTHER)
    assert here.holds("alarms.read") and here.holds("runs.read") and not here.holds("keys.manage")
    assert there.holds("anything.at.all") and here.key == "person"
    assert "night-shift" not in await identity.people.roles(console_principal(OTHER))


@pytest.mark.req("PM-14", "PM-19")
async def test_a_role_that_changes_or_goes_changes_what_its_people_hold(
    db: Database, identity: IdentitySetup, turning: FakeTime
) -> None:
    await identity.people.save_role(console_principal(ACME), "crew", ["alarms.read"])
    user = await identity.people.add_member(console_principal(ACME), "ana@example.com", ["crew"])
    token = await identity.authenticator.sign_in(user.id, ACME)
    assert (await identity.authenticator.principal_from_session(token)).holds("alarms.read")
    await identity.people.delete_role(console_principal(ACME), "crew")
    assert (await identity.authenticator.principal_from_session(token)).permissions == frozenset()
    elsewhere = IdentitySetup(db)
    await elsewhere.people.remove_member(console_principal(ACME), user.id)
    turning.turn(1.0)
    with pytest.raises(NotSignedIn):
        await identity.authenticator.principal_from_session(token)


@pytest.mark.req("PM-14")
async def test_nobody_grants_what_they_do_not_hold(db: Database, identity: IdentitySetup) -> None:
    admin = await identity.person("admin")
    boss = await identity.person("owner", email="boss@example.com")
    refused = (
        lambda: identity.people.add_member(admin, "eve@example.com", ["owner"]),
        lambda: identity.people.add_member(admin, "ana@example.com", ["owner"]),
        lambda: identity.people.save_role(admin, "super", ["*"]),
        lambda: identity.people.save_role(admin, "other", ["tenant.manage"]),
        lambda: identity.people.remove_member(admin, str(boss.user)),
        lambda: identity.people.remove_member(boss, str(boss.user)),
        lambda: identity.keys.make(admin, "all", "service", permissions=["*"]),
        lambda: identity.keys.make(admin, "hers", "person", user=boss.user),
        lambda: identity.people.rename_tenant(admin, "Mine"),
    )
    for attempt in refused:
        with pytest.raises(PermissionDenied):
            await attempt()
    viewer = await identity.person("viewer", email="vi@example.com")
    for denied in (
        lambda: identity.people.members(viewer),
        lambda: identity.people.add_member(viewer, "vi@example.com", ["viewer"]),
        lambda: identity.people.save_role(viewer, "mine", []),
        lambda: identity.keys.make(viewer, "mine"),
        lambda: identity.keys.list(viewer),
    ):
        with pytest.raises(PermissionDenied, match="need the permission"):
            await denied()
    with pytest.raises(UsageError, match="no role 'emperor'"):
        await identity.people.add_member(admin, "eve@example.com", ["emperor"])
    assert {user.email for user, _ in await identity.people.members(boss)} == {
        "ana@example.com",
        "boss@example.com",
        "vi@example.com",
    }


@pytest.mark.req("PM-14")
async def test_whoever_holds_a_bounded_key_gives_no_role_since_a_role_has_no_bounds(
    identity: IdentitySetup,
) -> None:
    boss = await identity.person("owner")
    bounds: list[dict[str, Any]] = [{"ceiling": "read"}, {"tools": ["stock.*"]}]
    for one in bounds:
        text_, _ = await identity.keys.make(boss, "bounded", "service", user=boss.user, **one)
        bounded = await identity.authenticator.principal_of(text_.reveal())
        assert bounded.holds("members.manage") and bounded.holds("roles.manage")
        with pytest.raises(PermissionDenied, match="Your own key reaches"):
            await identity.people.add_member(bounded, "eve@example.com", ["owner"])
        with pytest.raises(PermissionDenied, match="Your own key reaches"):
            await identity.people.save_role(bounded, "all", ["*"])
    assert [user.email for user, _ in await identity.people.members(boss)] == ["ana@example.com"]
