"""Conformance as a test of one's own tools."""

from __future__ import annotations

import re
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest
from inline_snapshot import snapshot

from handrail import BaseTool, define, tool
from handrail.ext.errors import UsageError
from handrail.testing import assert_conformant, conformance_cases
from tests.unit.conformance.conformant_tool import good, schema


@pytest.mark.req("CF-06", "CF-05")
def test_good_tools_pass() -> None:
    assert_conformant([good(), good("data.find")], strict=True)


@pytest.mark.req("CF-06", "DS-05")
def test_an_error_fails_with_a_report() -> None:
    bad = schema(n={"type": "integer", "default": "x", "description": "How many."})

    with pytest.raises(AssertionError) as failed:
        assert_conformant([good(), good("data.find", output=None, input=bad), good("data.get", output=None)])

    assert re.sub(r"  \(.*\)", "", str(failed.value)) == snapshot("""\
2 tools are not conformant:

data.find
  error default: the default of n does not fit its own schema: should be integer, got 'x' (text)
    remedy: give a default that a caller might send, or none and make it optional
  error output-schema: it has no output schema, so no client can check what it answers
    remedy: annotate what it returns, as `-> Found` or `-> Found | Result`; if that is nothing, give `output={"type": "null"}`

data.get
  error output-schema: it has no output schema, so no client can check what it answers
    remedy: annotate what it returns, as `-> Found` or `-> Found | Result`; if that is nothing, give `output={"type": "null"}`\
""")  # noqa: E501


@pytest.mark.req("CF-06", "DS-05")
def test_warnings_count_only_where_it_is_strict() -> None:
    short = good(description="Search.")

    assert_conformant([short])
    with pytest.raises(AssertionError, match="warning description-length"):
        assert_conformant([short], strict=True)


@pytest.mark.req("CF-06", "CF-02")
def test_rules_can_be_ignored_and_tools_be_without_input() -> None:
    empty = good(input=schema())

    with pytest.raises(AssertionError, match="error input-schema"):
        assert_conformant([empty])
    assert_conformant([empty], input_less=["data.search"])
    assert_conformant([empty, good("data.find", output=None)], ignore=("input-schema", "output-schema"))


def test_a_rule_that_does_not_exist_cannot_be_ignored() -> None:
    with pytest.raises(UsageError, match=r"no rule 'ouput-schema' to ignore\. The rules are: output-schema,"):
        assert_conformant([good()], ignore=("ouput-schema",))


class Find(BaseTool):
    """Find."""

    id = "data.find"
    level = "read"

    def execute(self, limit: int) -> Any:
        return limit


def late(init: Any) -> dict[str, Any]:
    return {"description": "Late.", "level": "read", "input": schema(), "execute": lambda args: 1}


@pytest.mark.req("CF-06")
async def test_classes_modules_and_tools_that_wait_are_checked_also_where_a_loop_runs() -> None:
    module = ModuleType("mine")
    module.kept = good("data.kept", output=None)  # type: ignore[attr-defined]
    waiting = define("data.late", late)

    with pytest.raises(AssertionError) as failed:
        assert_conformant([Find, module, waiting])

    told = str(failed.value)
    assert told.startswith("3 tools are not conformant:")
    assert all(name in told for name in ("data.find", "data.kept", "data.late"))


CASES = conformance_cases([good(), good("data.find"), good("data.get", output=None)])


@pytest.mark.req("CF-06")
def test_there_is_one_case_a_tool_named_after_it() -> None:
    assert [case.id for case in CASES] == ["data.search", "data.find", "data.get"]


@pytest.mark.req("CF-06")
@pytest.mark.parametrize("case", CASES)
def test_a_case_fails_for_its_own_tool_alone(case: Any) -> None:
    if case.tool == "data.get":
        with pytest.raises(AssertionError, match=r"1 tool is not conformant:\n\ndata\.get"):
            case()
    else:
        case()


@pytest.mark.req("CF-06", "NM-06")
def test_cases_know_of_each_other() -> None:
    cases = conformance_cases([good("data.find"), good("data__find")])

    told = [[finding.rule for finding in case.values[0].findings] for case in cases]  # type: ignore[union-attr]
    assert told == [["name-collision"]] * 2


def test_pytest_is_not_imported_before_it_is_needed() -> None:
    program = "import handrail.testing, sys; print({'pytest', '_pytest'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "set()"


@tool("data.local", level="read")
def local(limit: int) -> int:
    """Search the records of a region, newest of them first.

    Args:
        limit: How many at most.
    """
    return limit


def test_the_report_says_where_a_tool_was_written() -> None:
    with pytest.raises(AssertionError, match=r"\(.*test_conformance\.py:\d+\)"):
        assert_conformant([local, good("data__local")])
