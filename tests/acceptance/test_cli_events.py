"""The record at the command line: shown, exported, followed, verified; and the runs it tells of."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

from handrail import Handrail, Outcome, Principal, ToolError, tool
from handrail.store.database import Database
from handrail.store.events.log import StoreLog
from handrail.store.events.verify import LogFlaw, verify
from handrail.store.migrate import upgrade
from tests.acceptance.command_line import CommandResult, environment
from tests.acceptance.forked_cli import ForkedCli

ANA = Principal(tenant="acme", user="ana", permissions={"*"})
BOT = ANA.spawn("bot")
EVE = Principal(tenant="evil", user="eve", permissions={"*"})


@tool("stock.count", level="read")
async def count(item: str, password: SecretStr | None = None) -> str:
    """Count."""
    if item == "none":
        raise ToolError("there is \x1b[31mnone", code="SOLD_OUT")
    return f"9 {item}\x1b]0;owned\x07"


async def _told(url: str, *, secret: str = "pw-12345") -> list[Outcome]:
    upgrade(url)
    database = Database(url)
    log = StoreLog(database)
    async with Handrail([count], log=log) as hr:
        outcomes = [
            await hr.call("stock.count", {"item": "bolt", "password": secret}, principal=ANA, session="s1"),
            await hr.call("stock.count", {"item": "none"}, principal=BOT, session="s1"),
            await hr.call("stock.count", {"item": ["x"]}, principal=ANA, session="s2"),
            await hr.call("stock.count", {"item": "evil"}, principal=EVE, session="s1"),
        ]
        await database.flushed()
    log.close()
    database.close()
    return outcomes


def told(url: str) -> list[Outcome]:
    """A few calls of two tenants in two sessions."""
    return asyncio.run(_told(url))


def at(forked_cli: ForkedCli, url: str, cwd: Path, *words: str, tenant: str = "acme") -> CommandResult:
    return forked_cli(*words, "--tenant", tenant, cwd=cwd, HANDRAIL_DATABASE=url)


@pytest.mark.req("EV-16", "BY-13")
def test_events_are_shown_of_one_tenant_from_any_number_on_and_exported_as_lines(
    forked_cli: ForkedCli, tmp_path: Path, database_url: str
) -> None:
    outcomes = told(database_url)
    shown = at(forked_cli, database_url, tmp_path, "events")
    assert (shown.code, shown.err) == (0, "")
    cells = [line.split("\t") for line in shown.out.splitlines()]
    assert [(int(number), session, kind) for number, _, session, kind, *_ in cells] == [
        (1, "s1", "tool.started"),
        (2, "s1", "tool.completed"),
        (3, "s1", "tool.started"),
        (4, "s1", "tool.failed"),
        (5, "s2", "tool.failed"),
    ]
    assert cells[3][5:] == [outcomes[1].call_id, "SOLD_OUT there is \\x1b[31mnone"]
    assert "\x1b" not in shown.out and "evil" not in shown.out

    lines = at(
        forked_cli, database_url, tmp_path, "events", "--session", "s1", "--after", "1", "--jsonl"
    ).out.splitlines()
    events = [json.loads(line) for line in lines]
    assert [(event["seq"], event["type"]) for event in events] == [
        (2, "tool.completed"),
        (3, "tool.started"),
        (4, "tool.failed"),
    ]
    assert events[0]["result"]["data"] == "9 bolt\x1b]0;owned\x07"
    whole = at(forked_cli, database_url, tmp_path, "events", "--call", outcomes[0].call_id, "--json")
    assert [event["type"] for event in whole.json] == ["tool.started", "tool.completed"]
    assert "pw-12345" not in whole.out
    assert at(forked_cli, database_url, tmp_path, "events", "--tool", "no.such", "--json").json == []


@pytest.mark.req("BY-13")
def test_whoever_follows_sees_what_another_process_tells(tmp_path: Path, database_url: str) -> None:
    told(database_url)
    follower = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "handrail",
            "events",
            "--follow",
            "--jsonl",
            "--session",
            "s1",
            "--after",
            "4",
        ],
        cwd=tmp_path,
        env=environment(HANDRAIL_DATABASE=database_url, HANDRAIL_TENANT="acme"),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        told(database_url)
        assert follower.stdout is not None
        lines = [json.loads(follower.stdout.readline()) for _ in range(4)]
    finally:
        follower.terminate()
        follower.communicate(timeout=30)
    assert [(event["seq"], event["type"]) for event in lines] == [
        (5, "tool.started"),
        (6, "tool.completed"),
        (7, "tool.started"),
        (8, "tool.failed"),
    ]


@pytest.mark.req("EV-14", "EV-16")
def test_runs_are_listed_and_shown_by_the_id_of_the_run_or_the_call(
    forked_cli: ForkedCli, tmp_path: Path, sqlite_url: str
) -> None:
    done, failed, refused, foreign = told(sqlite_url)
    listed = at(forked_cli, sqlite_url, tmp_path, "runs", "list")
    rows = [line.split("\t") for line in listed.out.splitlines()]
    assert [(row[0], row[1], row[2], row[4]) for row in rows] == [
        (failed.run_id, "stock.count", "bot for ana", "failed SOLD_OUT"),
        (done.run_id, "stock.count", "ana", "completed"),
    ]
    page = at(forked_cli, sqlite_url, tmp_path, "runs", "list", "--limit", "1", "--json").json
    rest = at(forked_cli, sqlite_url, tmp_path, "runs", "list", "--after", page[0]["cursor"], "--json").json
    assert [run["id"] for run in (*page, *rest)] == [failed.run_id, done.run_id]
    only = at(
        forked_cli, sqlite_url, tmp_path, "runs", "list", "--status", "failed", "--since", "1h", "--json"
    ).json
    assert [run["id"] for run in only] == [failed.run_id]

    shown = at(forked_cli, sqlite_url, tmp_path, "runs", "show", str(done.run_id))
    assert shown.code == 0
    assert "status     completed" in shown.out and '  item = "bolt"' in shown.out
    assert '  data = "9 bolt\\u001b]0;owned\\u0007"' in shown.out
    assert "pw-12345" not in shown.out and "\x1b" not in shown.out
    whole = at(forked_cli, sqlite_url, tmp_path, "runs", "show", refused.call_id, "--json").json
    assert (whole["outcome"]["status"], whole["outcome"]["code"]) == ("refused", "INVALID_PARAM")
    hidden = at(forked_cli, sqlite_url, tmp_path, "runs", "show", str(foreign.run_id))
    assert (hidden.code, hidden.out) == (3, "")
    assert "has no run or call" in hidden.err


@pytest.mark.req("BY-13")
def test_a_row_that_was_changed_by_hand_is_found_and_named(
    forked_cli: ForkedCli, tmp_path: Path, sqlite_url: str
) -> None:
    told(sqlite_url)
    good = at(forked_cli, sqlite_url, tmp_path, "verify-log", "--hashes")
    assert good.code == 0 and good.err == "5 events in 2 sessions: nothing was changed.\n"
    assert [line.split("\t")[:3] for line in good.out.splitlines()] == [
        ["acme", "s1", "4"],
        ["acme", "s2", "1"],
    ]

    database = Database(sqlite_url)
    with database.engine.connect() as conn:
        conn.exec_driver_sql("DROP TRIGGER session_events_no_update")
        conn.exec_driver_sql(
            "UPDATE session_events SET payload = replace(payload, 'bolt', 'gold')"
            " WHERE tenant_id = 'acme' AND session_id = 's1' AND seq = 2"
        )
        conn.commit()
    found = [one for one in verify(database, "acme") if isinstance(one, LogFlaw)]
    database.close()
    assert [(one.session, one.seq) for one in found] == [("s1", 2)]

    bad = at(forked_cli, sqlite_url, tmp_path, "verify-log")
    assert (bad.code, bad.out) == (1, "")
    assert bad.err.startswith("tenant acme, session s1, event 2: it was changed")
    all_of_them = at(forked_cli, sqlite_url, tmp_path, "verify-log", "--all-tenants", "--json")
    assert all_of_them.code == 1
    assert [(one["tenant"], one["seq"]) for one in all_of_them.json["flaws"]] == [("acme", 2)]
    assert {one["tenant"] for one in all_of_them.json["sessions"]} == {"acme", "evil"}
    assert at(forked_cli, sqlite_url, tmp_path, "verify-log", tenant="evil").code == 0
    nothing = at(forked_cli, sqlite_url, tmp_path, "verify-log", "--session", "no such")
    assert nothing.code == 3 and "acme has no session 'no such'" in nothing.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["events", "--follow", "--json"], "--follow never ends, and --json is one document\n  use --jsonl"),
        (
            ["runs", "list", "--status", "odd"],
            "'odd' is no status of a run\n  use one of: running, completed",
        ),
        (["runs", "list", "--after", "odd"], "'odd' is not a place in a list of runs"),
        (["runs", "list", "--since", "ever"], "--since 'ever' is no span of time"),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_what_cannot_be_shown_is_told(
    forked_cli: ForkedCli, tmp_path: Path, sqlite_url: str, words: list[str], said: str
) -> None:
    done = at(forked_cli, sqlite_url, tmp_path, *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
