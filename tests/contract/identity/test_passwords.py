"""Passwords on SQLite and PostgreSQL: who is let in, what others learn by trying, how often they may."""

from __future__ import annotations

import asyncio
from typing import Literal

import pytest
from argon2 import PasswordHasher

from handrail import Principal
from handrail.identity.errors import NotSignedIn, TooManyAttempts, WrongPassword
from handrail.identity.passwords import (
    ATTEMPT_WINDOW,
    MAX_ATTEMPTS,
    MAX_ATTEMPTS_PER_SOURCE,
    Argon2Hasher,
    PasswordAdmin,
    WeakPassword,
)
from handrail.identity.permissions import console_principal
from handrail.store.database import Database
from handrail.store.users import disable_user, password_hash_by_email
from tests.contract.identity.setup import ACME, OTHER, FastHasher, IdentitySetup
from tests.contract.tenant_database import FakeTime

ANA = "ana@example.com"
GOOD = "correct horse battery"


class Counting(PasswordHasher):
    """Counts how often it does its slow work."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.verified = 0

    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
        self.verified += 1
        return super().verify(hash, password)


async def settled(identity: IdentitySetup, password: str = GOOD, email: str = ANA) -> Principal:
    """A person with a password."""
    who = await identity.person("viewer", email=email)
    await identity.passwords.choose(await identity.authenticator.sign_in(str(who.user), ACME), password)
    return who


@pytest.mark.req("PM-14")
async def test_an_address_and_its_password_let_a_person_in(db: Database, identity: IdentitySetup) -> None:
    identity.passwords = PasswordAdmin(db, identity.authenticator)
    who = await settled(identity)
    for spelled in (ANA, " Ana@Example.COM "):
        token = await identity.passwords.sign_in(spelled, GOOD)
        assert await identity.authenticator.principal_from_session(token) == who


async def test_what_looks_the_same_is_the_same_password(identity: IdentitySetup) -> None:
    await settled(identity, "caf\u00e9 au lait noir")
    assert await identity.passwords.sign_in(ANA, "cafe\u0301 au lait noir")
    with pytest.raises(WrongPassword):
        await identity.passwords.sign_in(ANA, "\ud800" * 20)


async def test_nobody_learns_from_an_answer_who_lives_here(db: Database, identity: IdentitySetup) -> None:
    """Unknown, without a password, wrong, disabled, gone: one answer, after one verification each."""
    await settled(identity)
    await identity.person("viewer", email="none@example.com")
    for email in ("off@example.com", "left@example.com"):
        await settled(identity, email=email)
    with db.system() as conn:
        off = password_hash_by_email(conn, "off@example.com")
        left = password_hash_by_email(conn, "left@example.com")
        assert off is not None and left is not None
        disable_user(conn, off[0].id, at=1.0)
    await identity.people.remove_member(console_principal(ACME), left[0].id)
    hasher = Counting()
    password_admin = PasswordAdmin(db, identity.authenticator, Argon2Hasher(lambda: hasher))
    said = set()
    for email, password in (
        ("nobody@example.com", GOOD),
        ("no address at all", GOOD),
        ("none@example.com", GOOD),
        (ANA, GOOD + "x"),
        (ANA, "x" * 1_001),
        ("off@example.com", GOOD),
        ("left@example.com", GOOD),
    ):
        before = hasher.verified
        with pytest.raises(WrongPassword) as refused:
            await password_admin.sign_in(email, password)
        assert hasher.verified == before + 1, email
        said.add(str(refused.value))
    assert said == {"The address or the password is not right."}


async def test_a_password_of_another_tenant_opens_none_that_one_does_not_belong_to(
    identity: IdentitySetup,
) -> None:
    await settled(identity)
    with pytest.raises(WrongPassword):
        await identity.passwords.sign_in(ANA, GOOD, OTHER)


async def test_after_some_wrong_tries_one_waits_and_is_told_how_long(
    identity: IdentitySetup, turning: FakeTime
) -> None:
    await settled(identity)
    for email in (ANA, "nobody@example.com"):  # the count tells no more than the answer does
        for _ in range(MAX_ATTEMPTS):
            with pytest.raises(WrongPassword):
                await identity.passwords.sign_in(email, "wrong" * 4)
        turning.turn(60)
        with pytest.raises(TooManyAttempts, match="Try again in 14 minutes"):
            await identity.passwords.sign_in(email, GOOD)
    turning.turn(ATTEMPT_WINDOW)
    assert await identity.passwords.sign_in(ANA, GOOD)


async def test_two_servers_count_together_and_many_tries_at_once_are_not_one(
    db: Database, identity: IdentitySetup
) -> None:
    await settled(identity)
    servers = [identity.passwords, PasswordAdmin(db, identity.authenticator, FastHasher())]
    tries = await asyncio.gather(
        *(servers[n % 2].sign_in(ANA, f"wrong password {n}") for n in range(12)), return_exceptions=True
    )
    assert sum(type(one) is WrongPassword for one in tries) == MAX_ATTEMPTS
    assert sum(type(one) is TooManyAttempts for one in tries) == 12 - MAX_ATTEMPTS


async def test_a_right_password_ends_the_count_of_its_address(identity: IdentitySetup) -> None:
    await settled(identity)
    for _ in range(3):
        for _ in range(MAX_ATTEMPTS - 1):
            with pytest.raises(WrongPassword):
                await identity.passwords.sign_in(ANA, "wrong" * 4)
        assert await identity.passwords.sign_in(ANA, GOOD)


async def test_one_place_guesses_no_further_with_a_password_of_its_own(identity: IdentitySetup) -> None:
    await settled(identity)
    for n in range(MAX_ATTEMPTS_PER_SOURCE):
        if n % 5 == 0:
            await identity.passwords.sign_in(ANA, GOOD, source="10.0.0.1")
        with pytest.raises(WrongPassword):
            await identity.passwords.sign_in(f"guess{n}@example.com", GOOD, source="10.0.0.1")
    with pytest.raises(TooManyAttempts):
        await identity.passwords.sign_in("guess@example.com", GOOD, source="10.0.0.1")
    assert await identity.passwords.sign_in(ANA, GOOD, source="10.0.0.2")


async def test_a_new_password_ends_every_other_session_and_keeps_this_one(identity: IdentitySetup) -> None:
    who = await settled(identity)
    here, there = [await identity.passwords.sign_in(ANA, GOOD) for _ in range(2)]
    with pytest.raises(WrongPassword, match="not your present password"):
        await identity.passwords.choose(here, "another good one", "not it")
    new = await identity.passwords.choose(here, "another good one", GOOD)
    assert await identity.authenticator.principal_from_session(new) == who
    for over in (here, there):
        with pytest.raises(NotSignedIn):
            await identity.authenticator.principal_from_session(over)
    with pytest.raises(WrongPassword):
        await identity.passwords.sign_in(ANA, GOOD)
    assert await identity.passwords.sign_in(ANA, "another good one")


async def test_whoever_forgot_theirs_chooses_another_after_a_link(
    identity: IdentitySetup, turning: FakeTime
) -> None:
    who = await settled(identity)
    link = await identity.authenticator.make_link(str(who.user), ACME)
    token = await identity.authenticator.use_link(link.reveal())
    assert not await identity.passwords.needs_present(token)
    token = await identity.passwords.choose(token, "one that I shall keep")
    assert await identity.passwords.needs_present(token)
    link = await identity.authenticator.make_link(str(who.user), ACME)
    late = await identity.authenticator.use_link(link.reveal())
    turning.turn(ATTEMPT_WINDOW)
    with pytest.raises(WrongPassword):
        await identity.passwords.choose(late, "one of somebody else")


async def test_the_present_password_is_not_guessed_from_an_open_session(identity: IdentitySetup) -> None:
    await settled(identity)
    token = await identity.passwords.sign_in(ANA, GOOD)
    for n in range(MAX_ATTEMPTS):
        with pytest.raises(WrongPassword):
            await identity.passwords.choose(token, "another good one", f"guess {n}")
    with pytest.raises(TooManyAttempts):
        await identity.passwords.choose(token, "another good one", GOOD)


@pytest.mark.parametrize(
    ("password", "why"),
    [("short", "at least 12"), ("x" * 1_001, "at most 1,000"), (" Ana@EXAMPLE.com", "no password")],
)
async def test_what_is_no_password_is_refused_with_the_reason(
    identity: IdentitySetup, password: str, why: str
) -> None:
    who = await identity.person("viewer")
    token = await identity.authenticator.sign_in(str(who.user), ACME)
    with pytest.raises(WeakPassword, match=why):
        await identity.passwords.choose(token, password)
    assert not await identity.passwords.has(who)


async def test_an_old_hash_becomes_a_new_one_when_its_password_is_used(
    db: Database, identity: IdentitySetup
) -> None:
    await settled(identity)
    password_admin = PasswordAdmin(db, identity.authenticator)

    def stored() -> str:
        with db.system() as conn:
            found = password_hash_by_email(conn, ANA)
        assert found is not None and found[1] is not None
        return found[1]

    assert stored().startswith("$argon2id$v=19$m=8,t=1,p=1$")
    assert await password_admin.sign_in(ANA, GOOD)
    assert stored().startswith("$argon2id$") and not PasswordHasher().check_needs_rehash(stored())
    assert await password_admin.sign_in(ANA, GOOD)
