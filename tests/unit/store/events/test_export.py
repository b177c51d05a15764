"""The log as JSON Lines: any reader of JSON takes it, and it comes back whole."""

from __future__ import annotations

import json
import math
import shutil
import subprocess

import pytest

from handrail.store.database import Database
from handrail.store.events.log import StoreLog
from handrail.store.events.queries import export_lines, parse_line
from handrail.store.events.rows import BLOB_THRESHOLD
from tests.unit.store.events.sample_events import completed, failed, started

pytestmark = pytest.mark.req("BY-13")


def test_every_event_is_a_line_that_reads_back_as_that_event(db: Database, log: StoreLog) -> None:
    for n in range(250):
        begun = started(n, f"s{n % 2}\n")
        log.append(begun)
        large = "z" * (BLOB_THRESHOLD if n == 7 else 1)
        log.append(completed(begun, value=["ü\x00\ud800", 10**400, None, 1.5, large]))
    told = list(log.read("acme"))
    lines = list(export_lines(db, "acme"))
    assert len(lines) == 500 and not any("\n" in line for line in lines)
    assert [parse_line(line) for line in lines] == told
    assert [parse_line(line) for line in export_lines(db, "acme", "s1\n")] == [
        event for event in told if event.session == "s1\n"
    ]
    assert list(export_lines(db, "other")) == []


def test_other_readers_of_json_take_the_lines(db: Database, log: StoreLog) -> None:
    begun = started(1)
    log.append(begun)
    log.append(failed(begun))
    log.append(completed(started(2), value=math.inf))
    log.settle()
    lines = list(export_lines(db, "acme"))
    parsed = [json.loads(line, parse_constant=_refuse) for line in lines]
    assert [(row["seq"], row["type"]) for row in parsed] == [(1, "tool.started"), (2, "tool.failed")]
    assert parsed[0]["payload"]["input"] == {"sides": 6} and parsed[1]["code"] == "TOOL_FAILED"
    if (jq := shutil.which("jq")) is not None:
        read = subprocess.run([jq, "-r", ".seq"], input="\n".join(lines), text=True, stdout=-1, check=True)
        assert read.stdout.split() == ["1", "2"]


def _refuse(word: str) -> None:
    raise AssertionError(f"{word} is not JSON")
