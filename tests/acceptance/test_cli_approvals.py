"""Approvals, workers and dead letters at the command line: each step is a process of its own."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from handrail import Handrail, Outcome, Principal
from handrail.databases import upgrade
from handrail.identity.permissions import console_principal
from handrail.identity.services import Services
from tests.acceptance.command_line import SHOP, CommandResult, environment
from tests.acceptance.forked_cli import ForkedCli
from tests.acceptance.shop_tools import order_stock

pytestmark = pytest.mark.timeout(180)
BOT = Principal(tenant="local", user="local", permissions={"*"}).spawn("bot")
KEY = "5a" * 32


@pytest.fixture(autouse=True)
def sealed_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process has the key of the others."""
    monkeypatch.setenv("HANDRAIL_KEY", KEY)


def at(forked_cli: ForkedCli, url: str, cwd: Path, *words: str, **env: str) -> CommandResult:
    return forked_cli(*words, cwd=cwd, HANDRAIL_DATABASE=url, HANDRAIL_KEY=KEY, **env)


@contextmanager
def working(url: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """A worker that has begun to work."""
    worker = subprocess.Popen(
        [sys.executable, "-m", "handrail", "worker"],
        cwd=cwd,
        env=environment(HANDRAIL_TOOLS=SHOP, HANDRAIL_DATABASE=url, HANDRAIL_KEY=KEY),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert worker.stderr is not None
        assert worker.stderr.readline().startswith("Working with ")
        yield worker
    finally:
        worker.send_signal(signal.SIGKILL)
        worker.communicate(timeout=30)


async def _asked(url: str, pieces: int) -> tuple[str, str]:
    async with Handrail([order_stock], database=url, worker=False) as hr:
        out = await hr.call("stock.order", {"item": "bolt", "pieces": pieces}, principal=BOT)
        assert out.approval_id is not None
        return out.approval_id, out.call_id


def asked(url: str, pieces: int = 5) -> tuple[str, str]:
    """An agent wants to write and nobody is there: the ids of the approval and the call."""
    return asyncio.run(_asked(url, pieces))


async def _outcome(url: str, call_id: str) -> Outcome:
    async with Handrail([order_stock], database=url) as hr:
        return await hr.wait(call_id, timeout=60)


@pytest.mark.req("AP-04", "AP-08", "AP-09")
def test_what_waits_outlives_the_command_and_runs_once_a_person_agreed(
    forked_cli: ForkedCli, tmp_path: Path, database_url: str
) -> None:
    upgrade(database_url)
    words = ("run", "stock.order", "--item", "bolt", "--pieces", "5", "--as", "agent", "--json")
    asking = at(forked_cli, database_url, tmp_path, *words)
    assert (asking.code, asking.json["status"]) == (4, "pending")
    approval, call = asking.json["approval_id"], asking.json["call_id"]
    [listed] = at(forked_cli, database_url, tmp_path, "approvals", "list", "--json").json
    assert (listed["id"], listed["call_id"]) == (approval, call)
    assert listed["args"] == {"item": "bolt", "pieces": 5}

    edits = ("--edit", '{"item": "nut", "pieces": 2}', "--user", "bo")
    with working(database_url, tmp_path):
        done = at(
            forked_cli,
            database_url,
            tmp_path,
            "approvals",
            "approve",
            approval,
            *edits,
            "--wait",
            "60",
            "--json",
        )
    assert (done.code, done.json["outcome"]["status"]) == (0, "completed")
    assert (done.json["outcome"]["result"]["data"]["pieces"], done.json["decided_by"]) == (2, "bo")
    told = at(forked_cli, database_url, tmp_path, "runs", "show", call, "--json").json
    assert [event["type"] for event in told["events"]] == [
        "tool.needs_approval",
        "tool.approved",
        "tool.started",
        "tool.completed",
    ]


async def _asked_for(url: str, email: str) -> tuple[str, str]:
    async with Handrail([order_stock], database=url, worker=False) as hr:
        assert isinstance(hr.services, Services)
        await hr.services.people.create_tenant("local", "Local")
        user = await hr.services.people.add_member(console_principal("local"), email, ["owner"])
        who = Principal(tenant="local", user=user.id, permissions={"*"}).spawn("coder")
        out = await hr.call("stock.order", {"item": "bolt", "pieces": 5}, principal=who)
        assert out.approval_id is not None
        return out.approval_id, user.id


@pytest.mark.req("AP-08")
def test_people_are_named_by_their_address(forked_cli: ForkedCli, tmp_path: Path, sqlite_url: str) -> None:
    asked, user = asyncio.run(_asked_for(sqlite_url, "ana@acme.example"))
    listed = at(forked_cli, sqlite_url, tmp_path, "approvals", "list")
    assert "\tcoder for ana@acme.example\t" in listed.out
    at(forked_cli, sqlite_url, tmp_path, "approvals", "reject", asked, "--user", user)
    shown = at(forked_cli, sqlite_url, tmp_path, "approvals", "show", asked).out
    assert re.search(r"^for +coder for ana@acme.example$", shown, re.MULTILINE)
    assert re.search(r"^decided by +ana@acme.example$", shown, re.MULTILINE) and user not in shown


@pytest.mark.req("AP-02", "AP-07", "AP-08", "BY-02")
def test_a_person_sees_the_exact_arguments_and_answers_once(
    forked_cli: ForkedCli, tmp_path: Path, sqlite_url: str
) -> None:
    no, call = asked(sqlite_url)
    shown = at(forked_cli, sqlite_url, tmp_path, "approvals", "show", no)
    assert shown.code == 0 and "  pieces = 5\n" in shown.out and "why        Needs approval" in shown.out
    assert shown.out.endswith("What it would change, as of when it was asked:\n5 more of bolt on the shelf\n")
    assert shown.err == f"Answer it: handrail approvals approve {no}\n"
    foreign = at(forked_cli, sqlite_url, tmp_path, "approvals", "approve", no, "--tenant", "other")
    assert foreign.code == 3 and f"there is no approval '{no}' for other" in foreign.err
    unfit = at(forked_cli, sqlite_url, tmp_path, "approvals", "approve", no, "--edit", '{"item": "nut"}')
    assert unfit.code == 3 and "pieces" in unfit.err and "still open" in unfit.err
    said = at(forked_cli, sqlite_url, tmp_path, "approvals", "reject", no, "--reason", "we have enough")
    assert said.out == f"{no} is rejected; stock.order does not run.\n"
    again = at(forked_cli, sqlite_url, tmp_path, "approvals", "approve", no)
    assert again.code == 3 and "is no longer open: it is rejected" in again.err
    outcome = asyncio.run(_outcome(sqlite_url, call))
    assert (outcome.status, outcome.code) == ("refused", "REJECTED")
    assert "we have enough" in (outcome.result.error or "")


@pytest.mark.req("BY-02")
def test_a_person_answers_in_the_place_of_the_tool(
    forked_cli: ForkedCli, tmp_path: Path, sqlite_url: str
) -> None:
    instead, call = asked(sqlite_url)
    odd = at(forked_cli, sqlite_url, tmp_path, "approvals", "respond", instead, "--result", "{")
    assert (odd.code, odd.out) == (2, "")
    result = '{"item": "bolt", "pieces": 6, "colour": "red", "tags": []}'
    said = at(forked_cli, sqlite_url, tmp_path, "approvals", "respond", instead, "--result", result)
    assert said.out == f"{instead} is responded; stock.order does not run.\n"
    outcome = asyncio.run(_outcome(sqlite_url, call))
    assert (outcome.status, outcome.run_id, outcome.result.data["pieces"]) == ("completed", None, 6)
    nothing = at(forked_cli, sqlite_url, tmp_path, "approvals", "list")
    assert (nothing.out, nothing.err) == ("", "Nothing waits for an answer.\n")


def test_a_second_worker_is_told_who_has_the_file_and_the_first_ends_when_it_is_asked_to(
    forked_cli: ForkedCli, tmp_path: Path, sqlite_url: str
) -> None:
    with working(sqlite_url, tmp_path) as first:
        second = at(forked_cli, sqlite_url, tmp_path, "worker")
        assert (second.code, second.out) == (2, "")
        assert "is in use by" in second.err and str(first.pid) in second.err
        assert at(forked_cli, sqlite_url, tmp_path, "approvals", "list").code == 0
        os.kill(first.pid, signal.SIGTERM)
        assert first.wait(timeout=60) == 0


@pytest.mark.req("RT-02", "RT-06")
def test_what_failed_is_listed_shown_replayed_and_purged(
    forked_cli: ForkedCli, tmp_path: Path, sqlite_url: str
) -> None:
    failed = at(forked_cli, sqlite_url, tmp_path, "run", "words.fail")
    assert failed.code == 1
    [letter] = at(forked_cli, sqlite_url, tmp_path, "dlq", "list", "--json").json
    assert (letter["tool"], letter["status"]) == ("words.fail", "open")
    shown = at(forked_cli, sqlite_url, tmp_path, "dlq", "show", letter["id"])
    assert shown.code == 0 and "the paper is jammed" in shown.out
    replayed = at(forked_cli, sqlite_url, tmp_path, "dlq", "replay", letter["id"])
    assert (replayed.code, replayed.out) == (1, "")
    assert "failed TOOL_FAILED: the paper is jammed" in replayed.err
    letters = at(forked_cli, sqlite_url, tmp_path, "dlq", "list", "--json").json
    assert [one["replay_of"] for one in letters] == [None, letter["id"]]
    hidden = at(forked_cli, sqlite_url, tmp_path, "dlq", "purge", letter["id"], "--tenant", "other")
    assert hidden.code == 3 and "There is no dead letter" in hidden.err
    unclear = at(forked_cli, sqlite_url, tmp_path, "dlq", "purge")
    assert (unclear.code, unclear.out) == (2, "") and "which ones?" in unclear.err
    assert (
        at(forked_cli, sqlite_url, tmp_path, "dlq", "purge", "--older-than", "1d").out
        == "0 dead letters purged.\n"
    )
    assert at(forked_cli, sqlite_url, tmp_path, "dlq", "purge", letter["id"]).out == "1 dead letter purged.\n"
    assert at(forked_cli, sqlite_url, tmp_path, "dlq", "purge", "--all", "--json").json == {"purged": 1}
