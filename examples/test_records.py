"""How the author of the records toolset tests it: every tool, what it refuses, and conformance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from handrail import Outcome, Policy
from handrail.ext.guard import approve
from handrail.testing import ConformanceCase, ScriptedApprover, call_sync, conformance_cases
from handrail.toolsets.demo import analysis_tools, read_tools, write_tools
from handrail.toolsets.demo.records import STORE

TOOLS = [read_tools, analysis_tools, write_tools]


@pytest.fixture(autouse=True)
def records() -> Iterator[None]:
    STORE.fill()
    yield
    STORE.fill()


def as_agent(tool: Any, args: dict[str, Any], **options: Any) -> Outcome:
    return call_sync(tool, args, tenant="acme", user="ana", agent="ops", **options)


@pytest.mark.parametrize("case", conformance_cases(TOOLS, strict=True))
def test_every_tool_is_conformant(case: ConformanceCase) -> None:
    case()


def test_search_records_by_filters() -> None:
    out = as_agent(read_tools.search_records, {"region": "north", "status": "active", "limit": 1})

    assert out.result.data == {
        "records": [{"id": "rec-001", "name": "Alder Works", "status": "active", "score": None}],
        "total": 2,
        "filters_applied": {"region": "north", "status": "active"},
    }
    assert out.result.summary == "Found 2 records in north"
    assert (out.result.markdown or "").startswith("## Search Results: north active\n")
    assert (out.result.markdown or "").endswith("... (2 total)")


def test_search_records_without_filters_finds_all() -> None:
    out = as_agent(read_tools.search_records, {})

    assert (out.result.data["total"], out.result.summary) == (4, "Found 4 records")


def test_search_records_refuses_a_status_that_does_not_exist() -> None:
    out = as_agent(read_tools.search_records, {"status": "gone"})

    assert (out.status, out.code) == ("refused", "INVALID_PARAM")


def test_get_record_detail() -> None:
    out = as_agent(read_tools.get_record_detail, {"id": "rec-003"})

    assert (out.result.data["name"], out.result.summary) == ("Cedar Labs", "Cedar Labs is pending")


def test_get_stats_by_group() -> None:
    out = as_agent(read_tools.get_stats, {"by": "region"})

    assert out.result.data == {
        "groups": [{"name": "north", "count": 3}, {"name": "south", "count": 1}],
        "total": 4,
    }


@pytest.mark.parametrize(
    ("record", "score"), [("rec-001", 90), ("rec-002", 50), ("rec-003", 60), ("rec-004", 0)]
)
def test_score_record(record: str, score: int) -> None:
    out = as_agent(analysis_tools.score_record, {"id": record})

    assert out.result.data["score"] == score == sum(one["points"] for one in out.result.data["reasons"])


def test_generate_summary_is_a_draft_and_needs_nobody() -> None:
    out = as_agent(analysis_tools.generate_summary, {"region": "north"})

    assert out.result.data == {
        "text": "We have 3 customers in north, 2 of them active: Alder Works, Birch & Co."
    }


def test_update_record_waits_for_a_person() -> None:
    out = as_agent(write_tools.update_record, {"id": "rec-004", "status": "active"})

    assert (out.status, out.code) == ("pending", "NEEDS_APPROVAL")
    assert STORE.get("acme", "rec-004").status == "inactive"


def test_update_record_does_what_the_person_agreed_to() -> None:
    reviewer = ScriptedApprover(approve(edits={"id": "rec-004", "status": "pending"}))

    out = as_agent(write_tools.update_record, {"id": "rec-004", "status": "active"}, approver=reviewer)

    assert out.result.data == {"id": "rec-004", "before": "inactive", "after": "pending"}
    assert STORE.get("acme", "rec-004").status == "pending"
    assert reviewer.requests[0].args == {"id": "rec-004", "status": "active"}


@pytest.mark.parametrize("mode", ["strict", "policy", "danger"])
def test_bulk_delete_never_runs_by_itself(mode: Any) -> None:
    out = as_agent(write_tools.bulk_delete, {"ids": ["rec-001"]}, policy=Policy(approval_mode=mode))

    assert (out.status, len(STORE.of("acme"))) == ("pending", 4)


def test_bulk_delete_deletes_all_or_none() -> None:
    yes = ScriptedApprover(always=True)

    failed = as_agent(write_tools.bulk_delete, {"ids": ["rec-001", "rec-999"]}, approver=yes)
    assert (failed.code, len(STORE.of("acme"))) == ("RECORD_NOT_FOUND", 4)

    done = as_agent(write_tools.bulk_delete, {"ids": ["rec-001", "rec-002", "rec-001"]}, approver=yes)
    assert done.result.summary == "Deleted 2 records"
    assert sorted(STORE.of("acme")) == ["rec-003", "rec-004"]


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        (read_tools.get_record_detail, {"id": "rec-001"}),
        (analysis_tools.score_record, {"id": "rec-001"}),
        (write_tools.update_record, {"id": "rec-001", "status": "inactive"}),
        (write_tools.bulk_delete, {"ids": ["rec-001"]}),
    ],
    ids=lambda part: getattr(part, "id", ""),
)
def test_nobody_reaches_the_records_of_another_tenant(tool: Any, args: dict[str, Any]) -> None:
    out = call_sync(tool, args, tenant="globex", user="gus", approver=ScriptedApprover(always=True))

    assert (out.status, out.code) == ("failed", "RECORD_NOT_FOUND")
    assert STORE.get("acme", "rec-001").status == "active"


@pytest.mark.parametrize(
    ("tool", "args", "found"),
    [
        (read_tools.search_records, {}, {"records": [], "total": 0, "filters_applied": {}}),
        (read_tools.get_stats, {}, {"groups": [], "total": 0}),
        (
            analysis_tools.generate_summary,
            {"region": "north"},
            {"text": "We have 0 customers in north, 0 of them active."},
        ),
    ],
    ids=lambda part: getattr(part, "id", ""),
)
def test_another_tenant_sees_nothing(tool: Any, args: dict[str, Any], found: Any) -> None:
    assert call_sync(tool, args, tenant="globex").result.data == found
