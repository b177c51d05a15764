"""Approvals, workers and dead letters at the command line: each step is a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from handrail.databases import upgrade
from tests.acceptance.command_line import SHOP, Done, environment, shop

pytestmark = pytest.mark.timeout(180)


def at(url: str, cwd: Path, *words: str, **env: str) -> Done:
    return shop(*words, cwd=cwd, HANDRAIL_DATABASE=url, HANDRAIL_KEY="5a" * 32, **env)


@contextmanager
def working(url: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """A worker that has begun to work."""
    worker = subprocess.Popen(
        [sys.executable, "-m", "handrail", "worker"],
        cwd=cwd,
        env=environment(HANDRAIL_TOOLS=SHOP, HANDRAIL_DATABASE=url, HANDRAIL_KEY="5a" * 32),
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


def asked(url: str, cwd: Path, pieces: int = 5) -> tuple[str, str]:
    """An agent wants to write and nobody is there: the ids of the approval and the call."""
    done = at(
        url, cwd, "run", "stock.order", "--item", "bolt", "--pieces", str(pieces), "--as", "agent", "--json"
    )
    assert (done.code, done.json["status"]) == (4, "pending")
    return done.json["approval_id"], done.json["call_id"]


@pytest.mark.req("AP-02", "AP-04", "AP-08", "AP-09")
def test_what_waits_outlives_the_command_and_runs_once_a_person_agreed(
    tmp_path: Path, database_url: str
) -> None:
    upgrade(database_url)
    approval, call = asked(database_url, tmp_path)
    [listed] = at(database_url, tmp_path, "approvals", "list", "--json").json
    assert (listed["id"], listed["call_id"], listed["args"]) == (
        approval,
        call,
        {"item": "bolt", "pieces": 5},
    )
    assert at(database_url, tmp_path, "approvals", "list", "--tenant", "other", "--json").json == []
    shown = at(database_url, tmp_path, "approvals", "show", approval)
    assert shown.code == 0 and "  pieces = 5\n" in shown.out and "why        Needs approval" in shown.out

    foreign = at(database_url, tmp_path, "approvals", "approve", approval, "--tenant", "other")
    assert foreign.code == 3 and f"there is no approval '{approval}' for other" in foreign.err
    unfit = at(database_url, tmp_path, "approvals", "approve", approval, "--edit", '{"item": "nut"}')
    assert unfit.code == 3 and "pieces" in unfit.err and "still open" in unfit.err

    edited = '{"item": "nut", "pieces": 2}'
    with working(database_url, tmp_path):
        words = ("approvals", "approve", approval, "--edit", edited, "--wait", "60", "--json", "--user", "bo")
        done = at(database_url, tmp_path, *words)
    assert (done.code, done.json["outcome"]["status"]) == (0, "completed")
    assert (done.json["outcome"]["result"]["data"]["pieces"], done.json["decided_by"]) == (2, "bo")
    again = at(database_url, tmp_path, "approvals", "reject", approval)
    assert again.code == 3 and "is no longer open: it is approved" in again.err
    told = at(database_url, tmp_path, "runs", "show", call, "--json").json
    assert [event["type"] for event in told["events"]] == [
        "tool.needs_approval",
        "tool.approved",
        "tool.started",
        "tool.completed",
    ]


@pytest.mark.req("AP-02", "AP-07", "BY-02")
def test_a_no_and_an_answer_in_the_tools_place_reach_the_caller(tmp_path: Path, sqlite_url: str) -> None:
    no, no_call = asked(sqlite_url, tmp_path)
    instead, instead_call = asked(sqlite_url, tmp_path, 6)
    odd = at(sqlite_url, tmp_path, "approvals", "respond", instead, "--result", "{")
    assert (odd.code, odd.out) == (2, "")
    said = at(sqlite_url, tmp_path, "approvals", "reject", no, "--reason", "we have enough")
    assert said.out == f"{no} is rejected; stock.order does not run.\n"
    result = '{"item": "bolt", "pieces": 6, "colour": "red", "tags": []}'
    with working(sqlite_url, tmp_path):
        done = at(
            sqlite_url,
            tmp_path,
            "approvals",
            "respond",
            instead,
            "--result",
            result,
            "--wait",
            "60",
            "--json",
        )
    assert (done.code, done.json["outcome"]["result"]["data"]["pieces"]) == (0, 6)
    refused = at(sqlite_url, tmp_path, "runs", "show", no_call, "--json").json
    assert (refused["outcome"]["status"], refused["outcome"]["code"]) == ("refused", "REJECTED")
    assert "we have enough" in refused["outcome"]["result"]["error"]
    assert [
        event["type"] for event in at(sqlite_url, tmp_path, "events", "--call", instead_call, "--json").json
    ] == [
        "tool.needs_approval",
        "tool.completed",
    ]
    nothing = at(sqlite_url, tmp_path, "approvals", "list")
    assert (nothing.out, nothing.err) == ("", "Nothing waits for an answer.\n")


def test_a_second_worker_is_told_who_has_the_file_and_the_first_ends_when_it_is_asked_to(
    tmp_path: Path, sqlite_url: str
) -> None:
    with working(sqlite_url, tmp_path) as first:
        second = at(sqlite_url, tmp_path, "worker")
        assert (second.code, second.out) == (2, "")
        assert "is in use by" in second.err and str(first.pid) in second.err
        assert at(sqlite_url, tmp_path, "approvals", "list").code == 0
        os.kill(first.pid, signal.SIGTERM)
        assert first.wait(timeout=60) == 0
    with working(sqlite_url, tmp_path):
        pass


@pytest.mark.req("RT-02", "RT-06")
def test_what_failed_is_listed_shown_replayed_and_purged(tmp_path: Path, sqlite_url: str) -> None:
    failed = at(sqlite_url, tmp_path, "run", "words.fail")
    assert failed.code == 1
    [letter] = at(sqlite_url, tmp_path, "dlq", "list", "--json").json
    assert (letter["tool"], letter["status"], letter["error"]) == (
        "words.fail",
        "open",
        "the paper is jammed",
    )
    shown = at(sqlite_url, tmp_path, "dlq", "show", letter["id"])
    assert shown.code == 0 and "the paper is jammed" in shown.out
    replayed = at(sqlite_url, tmp_path, "dlq", "replay", letter["id"])
    assert (replayed.code, replayed.out) == (1, "")
    assert "failed TOOL_FAILED: the paper is jammed" in replayed.err
    letters = at(sqlite_url, tmp_path, "dlq", "list", "--json").json
    assert [one["replay_of"] for one in letters] == [None, letter["id"]]
    hidden = at(sqlite_url, tmp_path, "dlq", "show", letter["id"], "--tenant", "other")
    assert hidden.code == 3 and "there is no dead letter" in hidden.err
    unclear = at(sqlite_url, tmp_path, "dlq", "purge")
    assert (unclear.code, unclear.out) == (2, "") and "which ones?" in unclear.err
    assert at(sqlite_url, tmp_path, "dlq", "purge", "--older-than", "1d").out == "0 dead letters purged.\n"
    assert at(sqlite_url, tmp_path, "dlq", "purge", letter["id"]).out == "1 dead letter purged.\n"
    assert at(sqlite_url, tmp_path, "dlq", "purge", "--all", "--json").json == {"purged": 1}
    assert at(sqlite_url, tmp_path, "dlq", "list").err == "No call of a tool that you may see has failed.\n"
