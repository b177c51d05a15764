"""Tenants and their keys at the command line: made, shown once, listed, ended."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from pathlib import Path

import pytest

from handrail.core.define.principal import Principal
from handrail.identity.authenticator import Authenticator
from handrail.identity.errors import NotSignedIn
from handrail.identity.members import MemberAdmin
from handrail.store.database import Database
from handrail.store.migrate import upgrade
from tests.acceptance.command_line import CommandResult, Terminal
from tests.acceptance.forked_cli import ForkedCli
from tests.databases import Postgres


def at(forked_cli: ForkedCli, url: str, cwd: Path, *words: str) -> CommandResult:
    return forked_cli(*words, cwd=cwd, HANDRAIL_DATABASE=url)


def opened_by(url: str, key: str) -> Principal:
    """Whom a key stands for."""
    database = Database(url)
    try:
        return asyncio.run(Authenticator(database, b"k" * 32).principal_of(key))
    finally:
        database.close()


def with_acme(url: str) -> None:
    """A database in which there is one tenant."""
    upgrade(url)
    database = Database(url)
    try:
        asyncio.run(MemberAdmin(database).create_tenant("acme", "Acme"))
    finally:
        database.close()


@pytest.mark.req("MT-01")
def test_a_key_is_shown_once_opens_its_tenant_and_nothing_after_it_was_revoked(
    forked_cli: ForkedCli, tmp_path: Path, database_url: str
) -> None:
    upgrade(database_url)
    made = at(
        forked_cli, database_url, tmp_path, "tenants", "add", "acme", "--name", "Acme \x1b[31mInc.", "--json"
    )
    assert (made.code, made.json["id"]) == (0, "acme")
    listed = at(forked_cli, database_url, tmp_path, "tenants", "list")
    assert [line.split("\t")[:2] for line in listed.out.splitlines()] == [
        ["acme", "Acme \\x1b[31mInc."],
    ]

    scope = ["--role", "operator", "--only", "stock.*", "--level", "write", "--expires", "90d"]
    key = at(
        forked_cli,
        database_url,
        tmp_path,
        "keys",
        "add",
        "ci",
        "--tenant",
        "acme",
        "--agent",
        "builder",
        *scope,
    )
    assert key.code == 0
    text = key.out.strip()
    assert text.startswith("hr_acme_") and "not shown again" in key.err
    who = opened_by(database_url, text)
    assert (who.tenant, who.agent, who.holds("dead_letters.replay")) == ("acme", "builder", True)
    assert not who.holds("keys.manage")

    listing = at(forked_cli, database_url, tmp_path, "keys", "list", "--tenant", "acme", "--json")
    [known] = listing.json
    assert (known["name"], known["tools"], known["level"]) == ("ci", ["stock.*"], "write")
    secret = text.rpartition("_")[2]
    assert secret not in listing.out and sha256(text.encode()).hexdigest() not in listing.out

    foreign = at(forked_cli, database_url, tmp_path, "keys", "revoke", known["id"], "--tenant", "bolt")
    assert (foreign.code, foreign.out) == (3, "")
    assert opened_by(database_url, text) == who
    assert at(forked_cli, database_url, tmp_path, "keys", "revoke", known["id"], "--tenant", "acme").code == 0
    with pytest.raises(NotSignedIn):
        opened_by(database_url, text)
    again = at(forked_cli, database_url, tmp_path, "keys", "revoke", known["id"], "--tenant", "acme")
    assert again.code == 3 and "has no key" in again.err and "that is alive" in again.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tenants", "add", "Acme Inc"], "'Acme Inc' cannot name a tenant. Use lower-case letters"),
        (["tenants", "add", "acme"], "There is a tenant 'acme' already."),
        (
            ["keys", "add", "ci", "--tenant", "nobody"],
            "there is no tenant 'nobody'\n  add it: handrail tenants",
        ),
        (["keys", "add", "ci", "--tenant", "acme", "--role", "king"], "--role 'king' is none\n  use one of:"),
        (
            ["keys", "add", "ci", "--tenant", "acme", "--level", "high"],
            "--level 'high' is none\n  use one of: read",
        ),
        (
            ["keys", "add", "ci", "--tenant", "acme", "--expires", "soon"],
            "--expires 'soon' is no span of time",
        ),
        (["keys", "add", " ", "--tenant", "acme"], "Give the key a name"),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_what_cannot_be_is_told(
    forked_cli: ForkedCli, tmp_path: Path, sqlite_url: str, words: list[str], said: str
) -> None:
    with_acme(sqlite_url)
    done = at(forked_cli, sqlite_url, tmp_path, *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_at_a_terminal_lists_are_tables(forked_cli: ForkedCli, tmp_path: Path, sqlite_url: str) -> None:
    with_acme(sqlite_url)
    terminal = Terminal("tenants", "list", cwd=tmp_path, HANDRAIL_DATABASE=sqlite_url)
    assert terminal.end() == 0
    assert terminal.shown.splitlines()[0].split() == ["Id", "Name", "Since"]
    empty = Terminal("keys", "list", "--tenant", "acme", cwd=tmp_path, HANDRAIL_DATABASE=sqlite_url)
    assert empty.end() == 0
    assert "acme has no keys: handrail keys add NAME --tenant acme" in empty.shown


def test_a_postgresql_without_tables_is_told_apart(
    forked_cli: ForkedCli, tmp_path: Path, postgres: Postgres
) -> None:
    name = postgres.create()
    done = forked_cli("tenants", "list", "--database", postgres.url(name), cwd=tmp_path)
    postgres.drop(name)
    assert (done.code, done.out) == (2, "")
    assert "has no tables yet. Run: handrail db upgrade" in done.err
