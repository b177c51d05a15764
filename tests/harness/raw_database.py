"""Facts: what a database really holds, read without any code of Handrail."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.rows import dict_row

Row = dict[str, Any]

_ENDS = ("tool.completed", "tool.failed", "tool.cancelled")


@contextmanager
def query_connection(url: str) -> Iterator[Callable[[str], list[Row]]]:
    """Ask queries as whoever may see everything."""
    if url.startswith("sqlite"):
        file = sqlite3.connect(url.partition("///")[2], timeout=10)
        file.row_factory = sqlite3.Row
        try:
            yield lambda query: [dict(row) for row in file.execute(query)]
        finally:
            file.close()
    else:
        with psycopg.connect(url, row_factory=dict_row, autocommit=True) as server:
            yield lambda query: server.execute(query.encode()).fetchall()


def rows(url: str, query: str) -> list[Row]:
    with query_connection(url) as ask:
        return ask(query)


def dump(url: str, tables: list[str]) -> dict[str, list[str]]:
    """Everything in the tables, in an order that does not depend on where rows lie."""
    with query_connection(url) as ask:
        return {
            table: sorted(repr(sorted(row.items())) for row in ask(f"SELECT * FROM {table}"))
            for table in tables
        }


def events(url: str) -> list[Row]:
    found = rows(url, "SELECT * FROM session_events ORDER BY tenant_id, session_id, seq")
    return [{**row, "payload": json.loads(row["payload"])} for row in found]


def unfinished(url: str) -> list[str]:
    """What is still queued, running, waiting or open, in words."""
    jobs = rows(url, "SELECT * FROM jobs WHERE state IN ('waiting', 'queued', 'running')")
    waiting = rows(url, "SELECT * FROM approvals WHERE status = 'pending'")
    ended = {row["call_id"] for row in events(url) if row["type"] in _ENDS}
    open_keys = rows(url, "SELECT * FROM idempotency_keys WHERE state <> 'done'")
    keys = [row for row in open_keys if row["call_id"] not in ended]
    return [
        *(f"run {row['run_id']} of {row['tool']} is open" for row in rows(url, "SELECT * FROM open_runs")),
        *(f"job {row['call_id']} is {row['state']}" for row in jobs),
        *(f"approval {row['id']} of {row['call_id']} waits" for row in waiting),
        *(f"key {row['key']} is {row['state']}" for row in keys),
    ]


_SEQUENCES = """
SELECT e.tenant_id, e.session_id,
  min(e.seq) AS first, max(e.seq) AS last, count(*) AS number, max(s.last_seq) AS said
FROM session_events e LEFT JOIN sessions s ON s.tenant_id = e.tenant_id AND s.id = e.session_id
GROUP BY e.tenant_id, e.session_id
"""


def sequence_gaps(url: str) -> list[str]:
    """Sessions whose numbers are not 1, 2, 3 …, or differ from what the session says of itself.

    One statement, so that what is written meanwhile is seen wholly or not at all.
    """
    found = rows(url, _SEQUENCES)
    return [f"{row}" for row in found if row["first"] != 1 or not row["last"] == row["number"] == row["said"]]


def graph_order_errors(url: str) -> list[str]:
    """What does not fit the order of tasks: a child that ran without its parents, or did not though it could.

    Each task has exactly one end, whether it ran or not.
    """
    found = events(url)
    tasks = [row["call_id"] for row in rows(url, "SELECT * FROM jobs WHERE task_name IS NOT NULL")]
    ends = {task: [row for row in found if row["call_id"] == task and row["type"] in _ENDS] for task in tasks}
    flaws = [f"task {task} ended {len(told)} times" for task, told in ends.items() if len(told) != 1]
    parents: dict[str, list[str]] = {}
    for edge in rows(url, "SELECT * FROM job_parents"):
        parents.setdefault(edge["call_id"], []).append(edge["parent_id"])
    for task, before in parents.items() if not flaws else ():
        fine = all(ends[one][0]["type"] == "tool.completed" for one in before)
        if fine == (ends[task][0]["code"] == "SKIPPED"):
            flaws.append(f"task {task} ended as {ends[task][0]['code']}, which does not fit its parents")
        began = [row["position"] for row in found if row["call_id"] == task and row["type"] == "tool.started"]
        if began and min(began) < max(ends[one][0]["position"] for one in before):
            flaws.append(f"task {task} began before those that it comes after were over")
    return flaws


def ends_of_runs(url: str) -> dict[str, list[str]]:
    """Of every run that began: how it ended. Exactly one end each, if all is well."""
    found = events(url)
    ends: dict[str, list[str]] = {row["run_id"]: [] for row in found if row["type"] == "tool.started"}
    for row in found:
        if row["type"] in _ENDS and row["run_id"] is not None:
            ends.setdefault(row["run_id"], []).append(row["type"])
    return ends


def end_of_call(url: str, call: str) -> tuple[str, str | None] | None:
    """The last event of a call that ended, with its code."""
    found = [row for row in events(url) if row["call_id"] == call and row["type"] in _ENDS]
    return (found[-1]["type"], found[-1]["code"]) if found else None
