"""Keepsakes on SQLite and PostgreSQL: what a person keeps, which nobody else sees."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from handrail import from_json_schema
from handrail.core.errors import UsageError
from handrail.store.database import Database
from handrail.store.keepsakes import MOST_FAVOURITES, MOST_SAVED
from tests.contract.households import Turning
from tests.contract.identity.homes import OTHER, House, made
from tests.harness import facts

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
async def test_favourites_are_ones_own_and_stay_in_order(house: House, turning: Turning) -> None:
    ana, bob = await house.person("viewer"), await house.person("owner", email="bob@example.com")
    away = await house.person("viewer", tenant=OTHER)
    for tool in ("b.one", "a.two", "b.one"):
        turning.turn(1)
        await house.keepsakes.favour(ana, tool, True)
    assert await house.keepsakes.favourites(ana) == ["b.one", "a.two"]
    assert await house.keepsakes.favourites(bob) == await house.keepsakes.favourites(away) == []
    assert await house.keepsakes.favour(ana, "b.one", False)
    assert not await house.keepsakes.favour(ana, "b.one", False)
    assert await house.keepsakes.favourites(ana) == ["a.two"]


async def test_there_is_a_most_of_favourites_also_for_many_at_once(house: House) -> None:
    ana = await house.person("viewer")
    favour = house.keepsakes.favour
    for n in range(MOST_FAVOURITES - 1):
        await favour(ana, f"t.{n}", True)
    tries = await asyncio.gather(*(favour(ana, f"u.{n}", True) for n in range(4)), return_exceptions=True)
    assert sum(one is True for one in tries) == 1
    with pytest.raises(UsageError, match="200 favourites, which is the most"):
        await favour(ana, "one.more", True)
    assert not await favour(ana, "t.0", True)


@pytest.mark.req("RA-02")
async def test_an_input_is_kept_under_a_name_and_found_as_it_was(house: House) -> None:
    ana = await house.person("viewer")
    given: dict[str, Any] = {
        "to": "Bo\u0142ek \u202e",
        "amount": 1.5,
        "none": None,
        "empty": "",
        "list": [],
        "•": "•••",
    }
    assert await house.keepsakes.save(ana, made("t"), "  last   month ", given) == ()
    assert await house.keepsakes.save(ana, made("t"), "a", {"n": 2**70}) == ()
    kept = await house.keepsakes.saved(ana, "t")
    assert [(one.name, one.args) for one in kept] == [("a", {"n": 2**70}), ("last month", given)]
    await house.keepsakes.save(ana, made("t"), "a", {"n": 2})
    assert [one.args for one in await house.keepsakes.saved(ana, "t")] == [{"n": 2}, given]
    assert await house.keepsakes.remove(ana, "t", "a") and not await house.keepsakes.remove(ana, "t", "a")
    bob = await house.person("owner", email="bob@example.com")
    assert await house.keepsakes.saved(bob, "t") == []


async def test_secrets_are_left_out_and_that_is_said(db: Database, house: House) -> None:
    ana = await house.person("viewer")
    args = {"to": "Bob", "card": "4711-0815", "by": [{"pin": "2580", "n": 1}, {"n": 2}]}
    assert await house.keepsakes.save(ana, PAY, "rent", args) == ("by.0.pin", "card")
    assert (await house.keepsakes.saved(ana, "pay"))[0].args == {"to": "Bob", "by": [{"n": 1}, {"n": 2}]}
    rows = repr(facts.dump(db.url, ["saved_inputs"]))
    assert "rent" in rows and not any(word in rows for word in ("Bob", "4711", "2580"))


async def test_what_is_sealed_for_one_person_opens_for_no_other(db: Database, house: House) -> None:
    """Not even if somebody moves the row."""
    ana, bob = await house.person("viewer"), await house.person("viewer", email="bob@example.com")
    await house.keepsakes.save(ana, made("t"), "a", {"n": 1})
    with db.transaction(ana.tenant) as conn:
        conn.exec_driver_sql(f"UPDATE saved_inputs SET user_id = '{bob.user}'")
    with pytest.raises(UsageError, match="belongs to another place"):
        await house.keepsakes.saved(bob, "t")


async def test_there_is_a_most_of_saved_inputs_for_each_tool(house: House) -> None:
    ana = await house.person("viewer")
    for n in range(MOST_SAVED):
        await house.keepsakes.save(ana, made("t"), f"{n}", {})
    with pytest.raises(UsageError, match="100 saved inputs for this tool"):
        await house.keepsakes.save(ana, made("t"), "one more", {})
    await house.keepsakes.save(ana, made("t"), "0", {"changed": True})
    await house.keepsakes.save(ana, made("other"), "one more", {})


async def test_bad_names_and_what_is_too_large_are_refused_in_words(house: House) -> None:
    ana = await house.person("viewer")
    for name in ("", "  ", "x" * 101, "a\x00b"):
        with pytest.raises(UsageError, match="1 to 100 characters"):
            await house.keepsakes.save(ana, made("t"), name, {})
    with pytest.raises(UsageError, match="the most are 256 kB"):
        await house.keepsakes.save(ana, made("t"), "big", {"x": "y" * 300_000})
    assert await house.keepsakes.saved(ana, "t") == []


async def test_how_pages_look_is_chosen_once_for_every_tenant(house: House) -> None:
    ana = await house.person("viewer")
    away = await house.person("viewer", tenant=OTHER)
    assert await house.keepsakes.theme(ana) == "system"
    await house.keepsakes.prefer(ana, "dark")
    assert await house.keepsakes.theme(away) == "dark"
    with pytest.raises(UsageError, match="light, dark or as the system does"):
        await house.keepsakes.prefer(ana, "pink")


async def test_an_agent_keeps_nothing(house: House) -> None:
    boss = await house.person("owner")
    key, _ = await house.keys.make(boss, "helper", "agent", user=boss.user)
    agent = await house.door.principal_of(key.reveal())
    for attempt in (
        lambda: house.keepsakes.favourites(agent),
        lambda: house.keepsakes.favour(agent, "t", True),
        lambda: house.keepsakes.saved(agent, "t"),
        lambda: house.keepsakes.save(agent, made("t"), "a", {}),
        lambda: house.keepsakes.prefer(agent, "dark"),
    ):
        with pytest.raises(UsageError, match="belong to people"):
            await attempt()
