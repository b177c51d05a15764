"""API keys and signed sessions on SQLite and PostgreSQL: who gets in, and as whom."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any

import pytest
from sqlalchemy import event, text

from handrail import Handrail, Principal, define
from handrail.core.errors import UsageError
from handrail.core.run.approvals.inbox import Conflict
from handrail.identity.errors import NotSignedIn, PermissionDenied
from handrail.identity.permissions import console_principal
from handrail.store import users
from handrail.store.database import Database
from tests.contract.identity.setup import ACME, OTHER, IdentitySetup
from tests.contract.tenant_database import FakeTime
from tests.harness.foreign_mcp_server import poll_until


@pytest.mark.req("AP-08")
async def test_the_key_of_an_agent_answers_no_approval_though_it_names_no_agent(
    identity: IdentitySetup,
) -> None:
    boss = await identity.person("owner")
    text_, _ = await identity.keys.make(boss, "helper", "agent", user=boss.user)
    agent = await identity.authenticator.principal_of(text_.reveal())
    assert (agent.user, agent.agent) == (boss.user, "helper")
    hr = Handrail([define("data.wipe", {"description": "It does.", "execute": dict}, level="destructive")])
    out = await hr.call("data.wipe", principal=agent)
    with pytest.raises(Conflict, match="by a person"):
        await hr.approvals.approve(str(out.approval_id), by=agent)
    await hr.approvals.approve(str(out.approval_id), by=boss)
    assert (await hr.wait(out.call_id, 10)).ok


@pytest.mark.req("PM-17", "PM-18")
async def test_a_key_opens_exactly_what_it_was_made_for(db: Database, identity: IdentitySetup) -> None:
    text_, key = await identity.keys.make(
        console_principal(ACME),
        "nightly",
        "agent",
        agent="bot",
        permissions=["runs.read"],
        tools=["data.*"],
        ceiling="read",
    )
    who = await identity.authenticator.principal_of(text_.reveal())
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
    assert key.is_live(0.0) and await identity.authenticator.principal_of(text_.reveal()) is who


async def test_a_key_is_nowhere_but_in_the_hands_of_who_asked(
    db: Database, identity: IdentitySetup, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    text_, key = await identity.keys.make(console_principal(ACME), "nightly")
    await identity.authenticator.principal_of(text_.reveal())
    kept = str([(row.id, row.name, row) for row in await identity.keys.list(console_principal(ACME))])
    with db.reading(ACME) as conn:
        kept += str(conn.execute(text("SELECT * FROM api_keys")).all())
    assert text_.secret not in kept + repr((text_, key)) + caplog.text
    assert key.digest not in repr(key)


@pytest.mark.req("MT-01", "PM-19")
async def test_every_key_that_does_not_hold_gets_the_same_answer(
    db: Database, identity: IdentitySetup, turning: FakeTime
) -> None:
    by = console_principal(ACME)
    live, _ = await identity.keys.make(by, "live", lifetime=1_000)
    old, _ = await identity.keys.make(by, "old", lifetime=10)
    revoked, gone = await identity.keys.make(by, "gone")
    assert await identity.keys.revoke(by, gone.id) and not await identity.keys.revoke(by, gone.id)
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
            await identity.authenticator.principal_of(one)
        answers.add(str(refused.value))
    assert len(answers) == 1
    assert (await identity.authenticator.principal_of(right)).tenant == ACME


async def test_a_key_that_was_let_in_ends_on_time_and_at_once_when_revoked(
    db: Database, identity: IdentitySetup, turning: FakeTime
) -> None:
    by = console_principal(ACME)
    short, _ = await identity.keys.make(by, "short", lifetime=0.5)
    long, key = await identity.keys.make(by, "long")
    for one in (short, long):
        await identity.authenticator.principal_of(one.reveal())
    turning.turn(0.5)
    with pytest.raises(NotSignedIn):
        await identity.authenticator.principal_of(short.reveal())
    elsewhere = IdentitySetup(db)
    await elsewhere.keys.revoke(by, key.id)
    with pytest.raises(NotSignedIn):
        await elsewhere.authenticator.principal_of(long.reveal())
    turning.turn(0.5)
    with pytest.raises(NotSignedIn):
        await identity.authenticator.principal_of(long.reveal())


async def test_what_cannot_be_read_lets_nobody_in(
    db: Database, identity: IdentitySetup, turning: FakeTime
) -> None:
    live, _ = await identity.keys.make(console_principal(ACME), "live")
    ana = await identity.person("viewer")
    token = await identity.authenticator.sign_in(str(ana.user), ACME)
    for shown in (
        identity.authenticator.principal_of(live.reveal()),
        identity.authenticator.principal_from_session(token),
    ):
        await shown
    turning.turn(1.0)

    def fail(*told: Any) -> None:
        raise OSError("the disk is gone")

    event.listen(db.engine, "before_cursor_execute", fail)
    try:
        for closed in (
            identity.authenticator.principal_of(live.reveal()),
            identity.authenticator.principal_from_session(token),
        ):
            with pytest.raises(NotSignedIn):
                await closed
    finally:
        event.remove(db.engine, "before_cursor_execute", fail)
    with db.transaction(ACME) as conn:
        conn.execute(text("UPDATE api_keys SET scopes = '{}'"))
    with pytest.raises(NotSignedIn):
        await identity.authenticator.principal_of(live.reveal())


async def test_a_key_of_a_person_gives_no_more_than_they_hold_when_it_is_used(
    db: Database, identity: IdentitySetup
) -> None:
    ana = await identity.person("admin", "approver")
    mine, _ = await identity.keys.make(ana, "laptop", "person", user=ana.user)
    agent, _ = await identity.keys.make(
        ana, "bot", "service", user=ana.user, permissions=["keys.manage", "runs.read"]
    )
    assert (await identity.authenticator.principal_of(mine.reveal())).permissions == ana.permissions
    bot = await identity.authenticator.principal_of(agent.reveal())
    assert bot.permissions == {"keys.manage", "runs.read"} and bot.key == "service"
    child, _ = await identity.keys.make(bot, "child", "agent", user=ana.user)
    assert (await identity.authenticator.principal_of(child.reveal())).permissions == bot.permissions
    with pytest.raises(PermissionDenied):
        await identity.keys.make(bot, "person", "person", user=ana.user)
    await identity.people.remove_member(console_principal(ACME), str(ana.user), ["admin"])
    assert (await identity.authenticator.principal_of(agent.reveal())).permissions == {"runs.read"}
    await identity.people.remove_member(console_principal(ACME), str(ana.user))
    for key in (mine, agent, child):
        with pytest.raises(NotSignedIn):
            await identity.authenticator.principal_of(key.reveal())


async def test_when_a_key_was_used_is_noted_now_and_then(
    db: Database, identity: IdentitySetup, turning: FakeTime
) -> None:
    live, _ = await identity.keys.make(console_principal(ACME), "live")
    seen = []
    for seconds in (0, 30, 31):
        turning.turn(seconds)
        await identity.authenticator.principal_of(live.reveal())
        await db.flushed()
        seen.append([key.last_used_at for key in await identity.keys.list(console_principal(ACME))])
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
    db: Database, identity: IdentitySetup, wrong: dict[str, Any]
) -> None:
    with pytest.raises(UsageError):
        await identity.keys.make(console_principal(ACME), **{"name": "key", **wrong})
    assert await identity.keys.list(console_principal(ACME)) == []


async def test_a_session_ends_on_time_when_signed_out_and_when_the_person_is_shut_out(
    db: Database, identity: IdentitySetup, turning: FakeTime
) -> None:
    ana = await identity.person("viewer")
    user = str(ana.user)
    token = await identity.authenticator.sign_in(user, ACME)
    turning.turn(12 * 3600.0 - 1)
    assert (await identity.authenticator.principal_from_session(token)).user == user
    turning.turn(1)
    with pytest.raises(NotSignedIn):
        await identity.authenticator.principal_from_session(token)
    first, second = (
        await identity.authenticator.sign_in(user, ACME),
        await identity.authenticator.sign_in(user, ACME),
    )
    elsewhere = IdentitySetup(db)
    await elsewhere.authenticator.principal_from_session(second)
    assert await identity.authenticator.sign_out(await identity.authenticator.principal_from_session(first))
    turning.turn(1.0)
    for authenticator in (identity.authenticator, elsewhere.authenticator):
        for ended in (first, second):
            with pytest.raises(NotSignedIn):
                await authenticator.principal_from_session(ended)
    again = await identity.authenticator.sign_in(user, ACME)
    with pytest.raises(NotSignedIn):
        await identity.authenticator.sign_in(user, OTHER)
    with db.system() as conn:
        users.disable_user(conn, user, at=1.0)
    with pytest.raises(NotSignedIn):
        await identity.authenticator.principal_from_session(again)
    with pytest.raises(NotSignedIn):
        await identity.authenticator.sign_in(user, ACME)


async def test_many_who_show_a_key_at_once_are_looked_up_once(db: Database, identity: IdentitySetup) -> None:
    text_, _ = await identity.keys.make(console_principal(ACME), "busy")
    looks: list[str] = []
    event.listen(db.engine, "before_cursor_execute", lambda *told: looks.append(told[2]))
    who = await asyncio.gather(*(identity.authenticator.principal_of(text_.reveal()) for _ in range(50)))
    assert all(one is who[0] for one in who)
    await db.flushed()
    assert len([one for one in looks if "FROM api_keys" in one and one.startswith("SELECT")]) == 1
    assert len([one for one in looks if one.startswith("UPDATE api_keys")]) == 1


async def test_who_stops_waiting_does_not_turn_the_others_away(identity: IdentitySetup) -> None:
    text_, _ = await identity.keys.make(console_principal(ACME), "busy")
    tasks = [asyncio.create_task(identity.authenticator.principal_of(text_.reveal())) for _ in range(3)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    first, *others = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(first, asyncio.CancelledError)
    assert all(isinstance(one, Principal) for one in others)


async def test_a_key_that_is_revoked_while_it_is_looked_up_opens_nothing_afterwards(
    db: Database, identity: IdentitySetup
) -> None:
    text_, key = await identity.keys.make(console_principal(ACME), "late")
    found, revoked = threading.Event(), threading.Event()

    def hold(*told: Any) -> None:
        if "FROM api_keys" in told[2] and not found.is_set():
            found.set()
            revoked.wait(30)

    event.listen(db.engine, "after_cursor_execute", hold)
    looking = asyncio.create_task(identity.authenticator.principal_of(text_.reveal()))
    await poll_until(found.is_set)
    assert await identity.keys.revoke(console_principal(ACME), key.id)
    revoked.set()
    await asyncio.gather(looking, return_exceptions=True)
    with pytest.raises(NotSignedIn):
        await identity.authenticator.principal_of(text_.reveal())
