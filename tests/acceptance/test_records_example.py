"""The records example: its story as it is told, and tests of its own for every tool."""

from __future__ import annotations

import sys
import tomllib

import pytest
from inline_snapshot import snapshot

import handrail.toolsets.demo
from handrail.ext.toolsets import discover
from tests.acceptance.run_command import ROOT, run


@pytest.mark.req("TR-04", "TR-05", "TR-16", "PM-02", "PM-03", "PM-05", "PM-25", "IV-08")
def test_an_agent_searches_waits_for_a_person_is_refused_and_stays_in_its_tenant() -> None:
    done = run(sys.executable, "-W", "error", "-m", "examples.records")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == snapshot("""\
Agent ops works for Ana of acme. It has these tools:
  read         analysis.scoreRecord
  draft        content.generateSummary
  read         data.getRecordDetail
  read         data.getStats
  read         data.searchRecords
  write        data.updateRecord

1. It searches
  data.searchRecords {'region': 'north'}
  completed: Found 3 records in north
    ## Search Results: north

    | Id | Name | Status | Score |
    | --- | --- | --- | --- |
    | rec-001 | Alder Works | active |  |
    | rec-002 | Birch & Co | active |  |
    | rec-004 | Dogwood | inactive |  |
    (3 total)

2. It looks closer
  data.getRecordDetail {'id': 'rec-004'}
  completed: Dogwood is inactive
    ## Dogwood

    | Field | Value |
    | --- | --- |
    | id | rec-004 |
    | name | Dogwood |
    | status | inactive |
    | region | north |
    | category | small |
    | score |  |
    (6 total)
  analysis.scoreRecord {'id': 'rec-001'}
  completed: Alder Works scores 90
    ## Score 90

    | Because | Points |
    | --- | --- |
    | status is active | 50 |
    | category is enterprise | 40 |
    (2 total)

3. It wants to change something, and has to wait
  data.updateRecord {'id': 'rec-004', 'status': 'active'}
  pending: Waiting for approval
  Ana reads: ops wants data.updateRecord with {'id': 'rec-004', 'status': 'active'}.
  She agrees.
  completed: Dogwood was inactive and is active
    ## Changed Dogwood

    | Id | Before | After |
    | --- | --- | --- |
    | rec-004 | inactive | active |
    (1 total)

4. It wants to delete, and may not
  data.bulkDelete {'ids': ['rec-001', 'rec-002']}
  refused: NOT_PERMITTED. Tool not permitted: data.bulkDelete (records are deleted by people)
  deny: Tool not permitted: data.bulkDelete (records are deleted by people)
      visibility: allow, this tenant may see it
      allow/deny: allow, no list keeps it out
      permission: allow, it requires no permission
      capability: allow, every capability it needs is granted
    > rules [people delete]: deny, Tool not permitted: data.bulkDelete (records are deleted by people)
      danger: ask, Needs approval: it is dangerous
      level: ask, Needs approval: it is destructive and cannot be taken back

5. An agent of another tenant makes the same calls
  data.searchRecords {'region': 'north'}
  completed: Found 0 records in north
    ## Search Results: north

    | Id | Name | Status | Score |
    | --- | --- | --- | --- |
    (0 total)
  data.getRecordDetail {'id': 'rec-004'}
  failed: RECORD_NOT_FOUND. There is no record rec-004. Search for it with data.searchRecords.
""")


def test_the_story_is_the_same_each_time_and_can_be_left() -> None:
    first, again = (run(sys.executable, "-m", "examples.records", PYTHONHASHSEED=seed) for seed in "17")
    left = run("bash", "-c", f"{sys.executable} -m examples.records | head -1")

    assert first.stdout == again.stdout
    assert (left.stdout, left.stderr) == (f"{first.stdout.splitlines()[0]}\n", "")


@pytest.mark.req("CF-04", "CF-05")
def test_every_tool_of_the_example_has_tests_of_its_own_and_they_are_run() -> None:
    text = (ROOT / "examples/test_records.py").read_text(encoding="utf-8")
    found = {made.id: made.body.fn.__name__ for made in discover(handrail.toolsets.demo) if made.body}

    assert sorted(found) == [
        *("analysis.scoreRecord", "content.generateSummary", "data.bulkDelete", "data.getRecordDetail"),
        *("data.getStats", "data.searchRecords", "data.updateRecord"),
    ]
    assert [name for name in found.values() if f"def test_{name}" not in text] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "examples" in project["tool"]["pytest"]["ini_options"]["testpaths"]
