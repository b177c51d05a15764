"""Tenants, people, roles and keys on SQLite and PostgreSQL: who gets in, and as whom."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import event, text

from handrail import Handrail, Principal, define
from handrail.core.errors import UsageError
from handrail.core.find.visibility import DEFAULT_TENANT_ID, ToolRow
from handrail.core.run.approvals import Conflict
from handrail.identity.doorkeeper import Doorkeeper
from handrail.identity.errors import NotGranted, NotSignedIn
from handrail.identity.granting import console
from handrail.identity.key_office import KeyOffice
from handrail.identity.people import People
from handrail.store import api_keys, roles, tenants, tools, users, versions
from handrail.store.database import Database
from tests.contract.households import Turning, household

ACME, OTHER = "acme", "other"
SEAL = b"s" * 32


@pytest.fixture
def turning() -> Turning:
    return Turning()


@pytest.fixture
def db(database_url: str, turning: Turning) -> Iterator[Database]:
    with household(database_url, turning, ACME, OTHER) as db:
        yield db


class House:
    """Everything of identity over one database."""

    def __init__(self, db: Database) -> None:
        self.door = Doorkeeper(db, SEAL)
        self.people = People(db, self.door.forget)
        self.keys = KeyOffice(db, self.door.forget)

    async def person(self, *has: str, tenant: str = ACME, email: str = "ana@example.com") -> Principal:
        user = await self.people.add_member(console(tenant), email, has)
        return await self.door.principal_from_session(await self.door.sign_in(user.id, tenant))


@pytest.fixture
def house(db: Database) -> House:
    return House(db)


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


@pytest.mark.req("AP-08")
async def test_the_key_of_an_agent_answers_no_approval_though_it_names_no_agent(house: House) -> None:
    boss = await house.person("owner")
    text_, _ = await house.keys.make(boss, "helper", "agent", user=boss.user)
    agent = await house.door.principal_of(text_.reveal())
    assert (agent.user, agent.agent) == (boss.user, "helper")
    hr = Handrail([define("data.wipe", {"description": "It does.", "execute": dict}, level="destructive")])
    out = await hr.call("data.wipe", principal=agent)
    with pytest.raises(Conflict, match="by a person"):
        await hr.approvals.approve(str(out.approval_id), by=agent)
    await hr.approvals.approve(str(out.approval_id), by=boss)
    assert (await hr.wait(out.call_id, 10)).ok


@pytest.mark.req("PM-17", "PM-18")
async def test_a_key_opens_exactly_what_it_was_made_for(db: Database, house: House) -> None:
    text_, key = await house.keys.make(
        console(ACME),
        "nightly",
        "agent",
        agent="bot",
        permissions=["runs.read"],
        tools=["data.*"],
        ceiling="read",
    )
    who = await house.door.principal_of(text_.reveal())
    expected = Principal(ACME, permissions=["runs.read"], agent="bot", scope=["data.*"], ceiling="read")
    assert who == expected
    told = {"description": "It does.", "execute": dict}
    hr = Handrail(
        [
            define("data.get", told, level="read"),
            define("data.set", told, level="write"),
            define("mail.get", told, level="read"),
        ]
    )
    assert [tool.id for tool in await hr.tools(who)] == ["data.get"]
    assert (await hr.call("data.get", principal=who)).ok
    for name in ("data.set", "mail.get"):
        assert (await hr.call(name, principal=who)).result.code == "NOT_PERMITTED"
    assert key.is_live(0.0) and await house.door.principal_of(text_.reveal()) is who


async def test_a_key_is_nowhere_but_in_the_hands_of_who_asked(
    db: Database, house: House, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    text_, key = await house.keys.make(console(ACME), "nightly")
    await house.door.principal_of(text_.reveal())
    kept = str([(row.id, row.name, row) for row in await house.keys.list(console(ACME))])
    with db.reading(ACME) as conn:
        kept += str(conn.execute(text("SELECT * FROM api_keys")).all())
    assert text_.secret not in kept + repr((text_, key)) + caplog.text
    assert key.digest not in repr(key)


@pytest.mark.req("MT-01", "PM-19")
async def test_every_key_that_does_not_hold_gets_the_same_answer(
    db: Database, house: House, turning: Turning
) -> None:
    by = console(ACME)
    live, _ = await house.keys.make(by, "live", lifetime=1_000)
    old, _ = await house.keys.make(by, "old", lifetime=10)
    revoked, gone = await house.keys.make(by, "gone")
    assert await house.keys.revoke(by, gone.id) and not await house.keys.revoke(by, gone.id)
    turning.turn(10)
    right = live.reveal()
    wrong = [
        old.reveal(),
        revoked.reveal(),
        right[:-1] + ("0" if right[-1] != "0" else "1"),
        right.replace("hr_acme_", "hr_other_"),
        right.replace("hr_acme_", "hr_nobody_"),
        right.replace(live.id, "0" * 16),
        "",
        "hr_acme",
        right + "0",
        "x" * 100_000,
        "hr_acme_" + "é" * 16,
    ]
    answers = set()
    for one in wrong:
        with pytest.raises(NotSignedIn) as refused:
            await house.door.principal_of(one)
        answers.add(str(refused.value))
    assert len(answers) == 1
    assert (await house.door.principal_of(right)).tenant == ACME


async def test_a_key_that_was_let_in_ends_on_time_and_at_once_when_revoked(
    db: Database, house: House, turning: Turning
) -> None:
    by = console(ACME)
    short, _ = await house.keys.make(by, "short", lifetime=0.5)
    long, key = await house.keys.make(by, "long")
    for one in (short, long):
        await house.door.principal_of(one.reveal())
    turning.turn(0.5)
    with pytest.raises(NotSignedIn):
        await house.door.principal_of(short.reveal())
    elsewhere = House(db)
    await elsewhere.keys.revoke(by, key.id)
    with pytest.raises(NotSignedIn):
        await elsewhere.door.principal_of(long.reveal())
    turning.turn(0.5)
    with pytest.raises(NotSignedIn):
        await house.door.principal_of(long.reveal())


async def test_what_cannot_be_read_lets_nobody_in(db: Database, house: House, turning: Turning) -> None:
    live, _ = await house.keys.make(console(ACME), "live")
    ana = await house.person("viewer")
    token = await house.door.sign_in(str(ana.user), ACME)
    for shown in (house.door.principal_of(live.reveal()), house.door.principal_from_session(token)):
        await shown
    turning.turn(1.0)

    def fail(*told: Any) -> None:
        raise OSError("the disk is gone")

    event.listen(db.engine, "before_cursor_execute", fail)
    try:
        for closed in (house.door.principal_of(live.reveal()), house.door.principal_from_session(token)):
            with pytest.raises(NotSignedIn):
                await closed
    finally:
        event.remove(db.engine, "before_cursor_execute", fail)
    with db.transaction(ACME) as conn:
        conn.execute(text("UPDATE api_keys SET scopes = '{}'"))
    with pytest.raises(NotSignedIn):
        await house.door.principal_of(live.reveal())


async def test_a_key_of_a_person_gives_no_more_than_they_hold_when_it_is_used(
    db: Database, house: House
) -> None:
    ana = await house.person("admin", "approver")
    mine, _ = await house.keys.make(ana, "laptop", "person", user=ana.user)
    agent, _ = await house.keys.make(
        ana, "bot", "agent", user=ana.user, permissions=["keys.manage", "runs.read"]
    )
    assert (await house.door.principal_of(mine.reveal())).permissions == ana.permissions
    bot = await house.door.principal_of(agent.reveal())
    assert bot.permissions == {"keys.manage", "runs.read"} and bot.key == "agent"
    child, _ = await house.keys.make(bot, "child", "agent", user=ana.user)
    assert (await house.door.principal_of(child.reveal())).permissions == bot.permissions
    with pytest.raises(NotGranted):
        await house.keys.make(bot, "person", "person", user=ana.user)
    await house.people.remove_member(console(ACME), str(ana.user), ["admin"])
    assert (await house.door.principal_of(agent.reveal())).permissions == {"runs.read"}
    await house.people.remove_member(console(ACME), str(ana.user))
    for key in (mine, agent, child):
        with pytest.raises(NotSignedIn):
            await house.door.principal_of(key.reveal())


async def test_when_a_key_was_used_is_noted_now_and_then(
    db: Database, house: House, turning: Turning
) -> None:
    live, _ = await house.keys.make(console(ACME), "live")
    seen = []
    for seconds in (0, 30, 31):
        turning.turn(seconds)
        await house.door.principal_of(live.reveal())
        await db.flushed()
        seen.append([key.last_used_at for key in await house.keys.list(console(ACME))])
    assert seen == [[1_000_000.0], [1_000_000.0], [1_000_061.0]]


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": " "},
        {"kind": "robot"},
        {"ceiling": "high"},
        {"lifetime": 0},
        {"tools": "data.*"},
        {"permissions": "runs.read"},
        {"permissions": ["everything"]},
        {"user": "nobody"},
        {"kind": "person"},
    ],
)
async def test_a_key_that_is_asked_for_wrongly_is_not_made(
    db: Database, house: House, wrong: dict[str, Any]
) -> None:
    with pytest.raises(UsageError):
        await house.keys.make(console(ACME), **{"name": "key", **wrong})
    assert await house.keys.list(console(ACME)) == []


async def test_a_session_ends_on_time_when_signed_out_and_when_the_person_is_shut_out(
    db: Database, house: House, turning: Turning
) -> None:
    ana = await house.person("viewer")
    user = str(ana.user)
    token = await house.door.sign_in(user, ACME)
    turning.turn(12 * 3600.0 - 1)
    assert (await house.door.principal_from_session(token)).user == user
    turning.turn(1)
    with pytest.raises(NotSignedIn):
        await house.door.principal_from_session(token)
    first, second = await house.door.sign_in(user, ACME), await house.door.sign_in(user, ACME)
    elsewhere = House(db)
    await elsewhere.door.principal_from_session(second)
    assert await house.door.sign_out(await house.door.principal_from_session(first))
    turning.turn(1.0)
    for door in (house.door, elsewhere.door):
        for ended in (first, second):
            with pytest.raises(NotSignedIn):
                await door.principal_from_session(ended)
    again = await house.door.sign_in(user, ACME)
    with pytest.raises(NotSignedIn):
        await house.door.sign_in(user, OTHER)
    with db.system() as conn:
        users.disable_user(conn, user, at=1.0)
    with pytest.raises(NotSignedIn):
        await house.door.principal_from_session(again)
    with pytest.raises(NotSignedIn):
        await house.door.sign_in(user, ACME)


@pytest.mark.req("MT-01")
async def test_every_function_asked_for_a_foreign_tenant_finds_and_changes_nothing(
    db: Database, house: House
) -> None:
    ana = await house.person("viewer")
    user = str(ana.user)
    _, key = await house.keys.make(console(ACME), "key")
    await house.people.save_role(console(ACME), "crew", ["alarms.read"])
    with db.transaction(ACME) as conn:
        tools.save_row(conn, ACME, ToolRow(ACME, "a-b"), at=1.0, by=None)
        versions.save_version(conn, ACME, "tool", "a-b", {"a": 1}, at=1.0, by=None)
    before = _everything(db)
    for tenant in (OTHER, "nobody"):
        with db.transaction(tenant) as conn:
            assert users.member(conn, tenant, user) is None
            assert users.members(conn, tenant) == []
            assert users.remove_roles(conn, tenant, user) == 0
            assert not users.raise_epoch(conn, tenant, user)
            assert roles.stored_roles(conn, tenant) == {}
            assert not roles.delete_role(conn, tenant, "crew")
            assert api_keys.get_key(conn, tenant, key.id) is None
            assert api_keys.list_keys(conn, tenant) == []
            assert not api_keys.revoke_key(conn, tenant, key.id, at=1.0)
            assert not api_keys.mark_used(conn, tenant, key.id, at=9e9, every=0.0)
            assert tools.rows_of(conn, tenant) == []
            assert tools.row_of(conn, tenant, "a-b", "system_override") is None
            assert tools.versions_of(conn, tenant)[0] == 0
            assert not tools.delete_row(conn, tenant, "a-b", "system_override")
            assert versions.history(conn, tenant, "tool", "a-b") == []
            for read in (
                lambda conn=conn, tenant=tenant: versions.content_of(conn, tenant, "tool", "a-b", 1),
                lambda conn=conn, tenant=tenant: versions.compare(conn, tenant, "tool", "a-b", 1, 1),
                lambda conn=conn, tenant=tenant: versions.restore(
                    conn, tenant, "tool", "a-b", 1, at=1.0, by=None
                ),
            ):
                with pytest.raises(UsageError, match="no version"):
                    read()
    with db.transaction("nobody") as conn:
        assert tenants.get_tenant(conn, "nobody") is None
        assert not tenants.rename_tenant(conn, "nobody", "Mine")
    assert _everything(db) == before


def _everything(db: Database) -> list[Any]:
    names = (
        "tenants users memberships roles api_keys tools tool_views schema_versions schema_contents".split()
    )
    with db.system() as conn:
        return [sorted(map(str, conn.execute(text(f"SELECT * FROM {name}")))) for name in names]
