"""Conformance as a test of your own tools: all at once, or one case for each tool."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from handrail.conformance import INTENTIONALLY_INPUT_LESS, RULES, Finding, check_ready
from handrail.core.define.tool import Tool
from handrail.core.errors import UsageError
from handrail.testing.mock_tools import each_tool

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet


def assert_conformant(
    tools: Iterable[Any],
    *,
    input_less: Collection[str] = INTENTIONALLY_INPUT_LESS,
    ignore: Collection[str] = (),
    strict: bool = False,
) -> None:
    """Fail with a report unless these tools keep the rules; `strict` counts warnings, too.

    Takes tools, classes and instances of `BaseTool`, and modules. `ignore` names rules that do not matter.
    """
    findings = _findings(list(each_tool(tools)), input_less, ignore, strict)
    if findings:
        raise AssertionError(report(findings))


@dataclass(frozen=True, slots=True)
class ConformanceCase:
    """One tool in a parametrised test. Call it: it fails with a report if there is something to report."""

    tool: str
    findings: tuple[Finding, ...]

    def __call__(self) -> None:
        if self.findings:
            raise AssertionError(report(self.findings))


def conformance_cases(
    tools: Iterable[Any],
    *,
    input_less: Collection[str] = INTENTIONALLY_INPUT_LESS,
    ignore: Collection[str] = (),
    strict: bool = False,
) -> list[ParameterSet]:
    """One case a tool, named after it: `@pytest.mark.parametrize("case", conformance_cases(TOOLS))`."""
    import pytest  # only whoever calls this needs it

    ready = list(each_tool(tools))
    findings = _findings(ready, input_less, ignore, strict)
    ids = dict.fromkeys(tool.id for tool in ready)
    cases = [
        ConformanceCase(name, tuple(finding for finding in findings if finding.tool == name)) for name in ids
    ]
    return [pytest.param(case, id=case.tool) for case in cases]


def _findings(
    tools: list[Tool], input_less: Collection[str], ignore: Collection[str], strict: bool
) -> list[Finding]:
    if unknown := sorted(set(ignore) - {rule.slug for rule in RULES}):
        slugs = ", ".join(rule.slug for rule in RULES)
        raise UsageError(f"There is no rule {unknown[0]!r} to ignore. The rules are: {slugs}.")
    with ThreadPoolExecutor(1) as elsewhere:  # a test may be async, and have a loop of its own
        findings = elsewhere.submit(asyncio.run, check_ready(tools, input_less=input_less)).result()
    return [
        finding for finding in findings if finding.rule not in ignore and (strict or finding.level == "error")
    ]


def report(findings: Sequence[Finding]) -> str:
    """Findings for a person to read, tool by tool."""
    tools = {finding.tool: finding.where for finding in findings}
    lines = ["1 tool is not conformant:" if len(tools) == 1 else f"{len(tools)} tools are not conformant:"]
    for tool, where in tools.items():
        lines += ["", tool if where is None else f"{tool}  ({where})"]
        for finding in findings:
            if finding.tool == tool:
                lines += [
                    f"  {finding.level} {finding.rule}: {finding.message}",
                    f"    remedy: {finding.remedy}",
                ]
    return "\n".join(lines)
