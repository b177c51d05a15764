"""Says what was measured: a table for people, JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.row import Budget, Row
from benchmarks.timing import NotMeasured, Size

Sections = Mapping[str, Sequence[Row]]
"""The rows under the title of the file that measured them."""

_HEAD = ("", "best", "median", "ratio", "budget", "")


def table(sections: Sections) -> str:
    """All sections, aligned alike."""
    cells = {title: [_cells(row) for row in rows] for title, rows in sections.items()}
    lines = [_HEAD, *(line for rows in cells.values() for line in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEAD))]
    text: list[str] = []
    for title, rows in cells.items():
        text += ["", title, _aligned(_HEAD, widths), *(_aligned(line, widths) for line in rows)]
    reasons = _reasons(sections)
    if reasons:
        text += ["", "Not measured:", *(f"  {reason}" for reason in reasons)]
    return "\n".join(text[1:])


def as_json(sections: Sections) -> list[dict[str, Any]]:
    """The same as plain data; times in seconds, sizes in bytes."""
    return [{"section": title, "rows": [_plain(row) for row in rows]} for title, rows in sections.items()]


def duration(seconds: float) -> str:
    """Seconds in the unit that reads best."""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def size(number: float) -> str:
    """A number of bytes."""
    return f"{number:,.0f} B"


def _cells(row: Row) -> tuple[str, ...]:
    if isinstance(row.measured, NotMeasured):
        best, middle = "not measured", ""
    else:
        shown = size if isinstance(row.measured, Size) else duration
        best, middle = shown(row.measured.best), shown(row.measured.median)
    value = row.ratio.value if row.ratio else None
    ratio = row.ratio.reads.format(value) if row.ratio and value is not None else ""
    verdict = row.verdict or ""
    return (
        row.subject,
        best,
        middle,
        ratio,
        _bound(row.budget) if row.budget else "",
        verdict.upper() if verdict == "missed" else verdict,
    )


def _bound(budget: Budget) -> str:
    return f"{'≤' if budget.bound == 'at most' else '≥'} {budget.limit:g}"


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    subject, best, middle, ratio, budget, verdict = (
        cell.rjust(width) if column in (1, 2) else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(line, widths, strict=True))
    )
    return f"  {subject}  {best}  {middle}  {ratio}  {budget}  {verdict}".rstrip()


def _reasons(sections: Sections) -> list[str]:
    found: dict[str, list[str]] = {}
    for rows in sections.values():
        for row in rows:
            if isinstance(row.measured, NotMeasured):
                found.setdefault(row.measured.reason, []).append(row.subject)
    return [f"{', '.join(dict.fromkeys(subjects))}: {reason}" for reason, subjects in found.items()]


def _plain(row: Row) -> dict[str, Any]:
    return {
        "subject": row.subject,
        "measured": asdict(row.measured),
        "ratio": row.ratio.value if row.ratio else None,
        "ratio_of_medians": row.ratio.by_median if row.ratio else None,
        "reads": row.ratio.reads if row.ratio else None,
        "budget": asdict(row.budget) if row.budget else None,
        "verdict": row.verdict,
    }
