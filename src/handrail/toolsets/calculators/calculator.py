"""What every calculator has in common: how it becomes a tool, and the sections in which it is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar, get_type_hints

from handrail import Result, Tool, tool
from handrail.ext.forms import FormSpec, OutputSection, ViewSpec, build_markdown_table
from handrail.toolsets.calculators.schemas import CalculatorInput, CalculatorOutput

In = TypeVar("In", bound=CalculatorInput)
Out = TypeVar("Out", bound=CalculatorOutput)

Aggregate = Callable[[list[Any]], dict[str, Any]]
"""The outputs of several people as one."""


def calculator(
    tool_id: str,
    *,
    form: FormSpec,
    sections: tuple[OutputSection, ...],
    rows: str,
    columns: Sequence[str] | None = None,
    limit: int = 50,
    aggregate: Aggregate | None = None,
    **options: Any,
) -> Callable[[Callable[[In], Out]], Tool]:
    """Make a tool of a function that calculates. Its result is the verdict and a table of the `rows`.

    With an `aggregate` it is for groups.
    """

    def decorate(calculate: Callable[[In], Out]) -> Tool:
        types = get_type_hints(calculate)

        @wraps(calculate)
        async def body(args: In) -> Result:
            result: Any = calculate(args)
            verdict = result.summary.verdict
            table = [row.to_dict() for row in getattr(result, rows)]
            markdown = build_markdown_table(table, columns, heading=verdict, limit=limit)
            return Result(data=result, summary=verdict, markdown=markdown)

        return tool(
            tool_id,
            input=types["args"],
            output=types["return"],
            category=tool_id.partition(".")[0],
            level="read",
            danger="safe",
            idempotent=True,
            collaborative=aggregate is not None,
            aggregate=aggregate,
            sections=sections,
            form=form,
            view=ViewSpec(sections),
            **options,
        )(body)

    return decorate


def summary_section(*figures: Mapping[str, Any]) -> OutputSection:
    """The figures that decide."""
    return OutputSection("summary", "Summary", "summary", {"figures": list(figures)})


def table_section(key: str, label: str, *columns: Mapping[str, Any]) -> OutputSection:
    return OutputSection(key, label, "table", {"columns": list(columns)})


def ranking_section(key: str, label: str, **config: Any) -> OutputSection:
    return OutputSection(key, label, "ranking", {"label": "name", "value": "score", **config})


def chart_section(key: str, label: str, kind: str, x: str, *y: Mapping[str, Any]) -> OutputSection:
    return OutputSection(key, label, "chart", {"kind": kind, "x": x, "y": list(y)})


def radar_section(key: str, label: str, axis: str, value: Any, most: int = 100) -> OutputSection:
    return OutputSection(key, label, "radar", {"axis": axis, "value": value, "min": 0, "max": most})


PARTICIPANTS = OutputSection("participants", "Who said what", "table")
