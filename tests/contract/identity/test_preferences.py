"""Preferences on SQLite and PostgreSQL: what a person stores, which nobody else sees."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from handrail import from_json_schema
from handrail.core.errors import UsageError
from handrail.store.database import Database
from handrail.store.preferences import MAX_FAVOURITES, MAX_SAVED_INPUTS
from tests.contract.identity.setup import OTHER, IdentitySetup, make_tool
from tests.contract.tenant_database import FakeTime
from tests.harness import raw_database

PAY = from_json_schema(
    "pay",
    {
        "type": "object",
        "properties": {
            "to": {"type": "string"},
            "card": {"type": "string", "format": "password"},
            "by": {"type": "array", "items": {"type": "object", "properties": {"pin": {"x-secret": True}}}},
        },
    },
    lambda **_: "paid",
    description="Pay somebody.",
)


@pytest.mark.req("RA-01")
async def test_favourites_are_ones_own_and_stay_in_order(identity: IdentitySetup, turning: FakeTime) -> None:
    ana, bob = await identity.person("viewer"), await identity.person("owner", email="bob@example.com")
    away = await identity.person("viewer", tenant=OTHER)
    for tool in ("b.one", "a.two", "b.one"):
        turning.turn(1)
        await identity.preferences.set_favourite(ana, tool, True)
    assert await identity.preferences.favourites(ana) == ["b.one", "a.two"]
    assert await identity.preferences.favourites(bob) == await identity.preferences.favourites(away) == []
    assert await identity.preferences.set_favourite(ana, "b.one", False)
    assert not await identity.preferences.set_favourite(ana, "b.one", False)
    assert await identity.preferences.favourites(ana) == ["a.two"]


async def test_there_is_a_most_of_favourites_also_for_many_at_once(identity: IdentitySetup) -> None:
    ana = await identity.person("viewer")
    set_favourite = identity.preferences.set_favourite
    for n in range(MAX_FAVOURITES - 1):
        await set_favourite(ana, f"t.{n}", True)
    tries = await asyncio.gather(
        *(set_favourite(ana, f"u.{n}", True) for n in range(4)), return_exceptions=True
    )
    assert sum(one is True for one in tries) == 1
    with pytest.raises(UsageError, match="200 favourites, which is the most"):
        await set_favourite(ana, "one.more", True)
    assert not await set_favourite(ana, "t.0", True)


@pytest.mark.req("RA-02")
async def test_an_input_is_kept_under_a_name_and_found_as_it_was(identity: IdentitySetup) -> None:
    ana = await identity.person("viewer")
    given: dict[str, Any] = {
        "to": "Bo\u0142ek \u202e",
        "amount": 1.5,
        "none": None,
        "empty": "",
        "list": [],
        "•": "•••",
    }
    assert await identity.preferences.save(ana, make_tool("t"), "  last   month ", given) == ()
    assert await identity.preferences.save(ana, make_tool("t"), "a", {"n": 2**70}) == ()
    kept = await identity.preferences.saved(ana, "t")
    assert [(one.name, one.args) for one in kept] == [("a", {"n": 2**70}), ("last month", given)]
    await identity.preferences.save(ana, make_tool("t"), "a", {"n": 2})
    assert [one.args for one in await identity.preferences.saved(ana, "t")] == [{"n": 2}, given]
    assert await identity.preferences.remove(ana, "t", "a") and not await identity.preferences.remove(
        ana, "t", "a"
    )
    bob = await identity.person("owner", email="bob@example.com")
    assert await identity.preferences.saved(bob, "t") == []


async def test_secrets_are_left_out_and_that_is_said(db: Database, identity: IdentitySetup) -> None:
    ana = await identity.person("viewer")
    args = {"to": "Bob", "card": "4711-0815", "by": [{"pin": "2580", "n": 1}, {"n": 2}]}
    assert await identity.preferences.save(ana, PAY, "rent", args) == ("by.0.pin", "card")
    assert (await identity.preferences.saved(ana, "pay"))[0].args == {"to": "Bob", "by": [{"n": 1}, {"n": 2}]}
    rows = repr(raw_database.dump(db.url, ["saved_inputs"]))
    assert "rent" in rows and not any(word in rows for word in ("Bob", "4711", "2580"))


async def test_what_is_sealed_for_one_person_opens_for_no_other(
    db: Database, identity: IdentitySetup
) -> None:
    """Not even if somebody moves the row."""
    ana, bob = await identity.person("viewer"), await identity.person("viewer", email="bob@example.com")
    await identity.preferences.save(ana, make_tool("t"), "a", {"n": 1})
    with db.transaction(ana.tenant) as conn:
        conn.exec_driver_sql(f"UPDATE saved_inputs SET user_id = '{bob.user}'")
    with pytest.raises(UsageError, match="belongs to another place"):
        await identity.preferences.saved(bob, "t")


async def test_there_is_a_most_of_saved_inputs_for_each_tool(identity: IdentitySetup) -> None:
    ana = await identity.person("viewer")
    for n in range(MAX_SAVED_INPUTS):
        await identity.preferences.save(ana, make_tool("t"), f"{n}", {})
    with pytest.raises(UsageError, match="100 saved inputs for this tool"):
        await identity.preferences.save(ana, make_tool("t"), "one more", {})
    await identity.preferences.save(ana, make_tool("t"), "0", {"changed": True})
    await identity.preferences.save(ana, make_tool("other"), "one more", {})


async def test_bad_names_and_what_is_too_large_are_refused_in_words(identity: IdentitySetup) -> None:
    ana = await identity.person("viewer")
    for name in ("", "  ", "x" * 101, "a\x00b"):
        with pytest.raises(UsageError, match="1 to 100 characters"):
            await identity.preferences.save(ana, make_tool("t"), name, {})
    with pytest.raises(UsageError, match="the most are 256 kB"):
        await identity.preferences.save(ana, make_tool("t"), "big", {"x": "y" * 300_000})
    assert await identity.preferences.saved(ana, "t") == []


async def test_how_pages_look_is_chosen_once_for_every_tenant(identity: IdentitySetup) -> None:
    ana = await identity.person("viewer")
    away = await identity.person("viewer", tenant=OTHER)
    assert await identity.preferences.theme(ana) == "system"
    await identity.preferences.set_theme(ana, "dark")
    assert await identity.preferences.theme(away) == "dark"
    with pytest.raises(UsageError, match="light, dark or as the system does"):
        await identity.preferences.set_theme(ana, "pink")


async def test_an_agent_keeps_nothing(identity: IdentitySetup) -> None:
    boss = await identity.person("owner")
    key, _ = await identity.keys.make(boss, "helper", "agent", user=boss.user)
    agent = await identity.authenticator.principal_of(key.reveal())
    for attempt in (
        lambda: identity.preferences.favourites(agent),
        lambda: identity.preferences.set_favourite(agent, "t", True),
        lambda: identity.preferences.saved(agent, "t"),
        lambda: identity.preferences.save(agent, make_tool("t"), "a", {}),
        lambda: identity.preferences.set_theme(agent, "dark"),
    ):
        with pytest.raises(UsageError, match="belong to people"):
            await attempt()
