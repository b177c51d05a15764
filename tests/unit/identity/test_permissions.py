"""Roles and permissions, and that nobody gives what they do not hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Handrail, Principal, define
from handrail.core.define.levels import LEVELS
from handrail.core.errors import UsageError
from handrail.ext.guard import tool_group
from handrail.identity.errors import PermissionDenied
from handrail.identity.permissions import (
    BUILT_IN_ROLES,
    check_bounds,
    check_grant,
    check_permissions,
    check_role,
    permissions_of,
    require_permission,
)

strings = st.sampled_from(["a.read", "a.write", "b.read", "b.write", "*"])
held = st.frozensets(strings)


@pytest.mark.req("PM-14")
def test_the_built_in_roles_hold_permissions_as_they_are_written() -> None:
    assert list(BUILT_IN_ROLES) == ["owner", "admin", "builder", "operator", "approver", "viewer"]
    for permissions in BUILT_IN_ROLES.values():
        assert check_permissions(permissions) == permissions
    assert BUILT_IN_ROLES["viewer"] < BUILT_IN_ROLES["operator"] < BUILT_IN_ROLES["admin"]
    assert (
        "tools.tenant.create" in BUILT_IN_ROLES["builder"]
        and "entities.team.read" in BUILT_IN_ROLES["viewer"]
    )
    assert {name for name, has in BUILT_IN_ROLES.items() if "approvals.decide" in has} == {
        "admin",
        "approver",
    }
    assert {name for name, has in BUILT_IN_ROLES.items() if "keys.manage" in has} == {"admin"}
    assert "*" not in BUILT_IN_ROLES["admin"]


@pytest.mark.req("PM-14")
def test_a_stored_role_cannot_stand_in_for_a_built_in_one() -> None:
    assert permissions_of(["viewer"], {"viewer": frozenset({"*"})}) == BUILT_IN_ROLES["viewer"]
    assert permissions_of(["lost"], {}) == frozenset()
    with pytest.raises(UsageError, match="built in"):
        check_role("viewer", ["a.read"])


@pytest.mark.parametrize("name", ["", "Night", "night shift", "a" * 64, "-night"])
def test_a_role_has_a_name_that_one_can_type(name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a role"):
        check_role(name, [])


@pytest.mark.req("PM-14")
@pytest.mark.parametrize("permission", ["", "read", "a..b", "A.b", "a.*", ".a", "a.b ", 7])
def test_what_is_no_permission_is_refused(permission: str) -> None:
    with pytest.raises(UsageError, match="is not a permission"):
        check_permissions([permission])


@given(held, held)
def test_nobody_gives_more_than_they_hold(mine: frozenset[str], given_: frozenset[str]) -> None:
    by = Principal("acme", "ana", permissions=mine)
    may = "*" in mine or given_ <= mine
    if may:
        check_grant(by, given_)
    else:
        with pytest.raises(PermissionDenied, match="do not hold"):
            check_grant(by, given_)


@given(
    st.none() | st.frozensets(st.sampled_from("ab")),
    st.none() | st.frozensets(st.sampled_from("ab")),
    st.none() | st.sampled_from(LEVELS),
    st.none() | st.sampled_from(LEVELS),
)
def test_no_key_makes_a_key_that_reaches_further(
    mine: object, theirs: object, my: object, their: object
) -> None:
    by = Principal("acme", scope=mine, ceiling=my)  # type: ignore[arg-type]
    tools_within = mine is None or (theirs is not None and theirs <= mine)  # type: ignore[operator]
    level_within = my is None or (their is not None and LEVELS.index(their) <= LEVELS.index(my))
    if tools_within and level_within:
        check_bounds(by, theirs, their)  # type: ignore[arg-type]
    else:
        with pytest.raises(PermissionDenied):
            check_bounds(by, theirs, their)  # type: ignore[arg-type]


def test_a_permission_counts_in_its_own_tenant_only() -> None:
    owner = Principal("acme", "ana", permissions=["*"])
    require_permission(owner, "acme", "keys.manage")
    with pytest.raises(PermissionDenied):
        require_permission(owner, "other", "keys.manage")


@pytest.mark.req("PM-16", "PM-17", "PM-18", "PM-19")
async def test_stored_permissions_open_groups_listings_and_calls_alike() -> None:
    told = {"description": "It does.", "level": "read", "execute": dict}
    reading = define("entities.search", told, requires="entities.team.read")
    deleting = define("entities.drop", told, requires="entities.team.delete")
    group = tool_group([reading, deleting])
    viewer = Principal("acme", "ana", ["viewer"], permissions_of(["viewer"], {}))
    nobody = Principal("acme", "bob", ["gone"], permissions_of(["gone"], {}))
    hr = Handrail([reading, deleting])
    for who, opens in ((viewer, [reading]), (nobody, [])):
        assert group(who.permissions) == opens
        assert await hr.tools(who) == opens
    assert (await hr.call("entities.search", principal=viewer)).ok
    for who, name in ((viewer, "entities.drop"), (nobody, "entities.search")):
        assert (await hr.call(name, principal=who)).result.code == "NOT_PERMITTED"


@pytest.mark.req("PM-14")
def test_the_page_says_of_each_built_in_role_what_it_holds() -> None:
    page = (Path(__file__).parents[3] / "docs" / "tenants.md").read_text(encoding="utf-8")
    lines = [line.split("|")[1:4] for line in page.splitlines() if line.startswith("| `")]
    told = {
        role.strip(" `"): set(re.findall(r"`([^`]+)`", said))
        for role, _, said in lines
        if role.strip(" `") in BUILT_IN_ROLES
    }
    assert list(told) == list(BUILT_IN_ROLES)
    for role in reversed(told):
        for name in told[role] & told.keys():
            told[role] = (told[role] - {name}) | told[name]
    assert told == {role: set(has) for role, has in BUILT_IN_ROLES.items()}
