"""Reports what was measured: a table and a judgement for people, JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.row import FAILURES, Budget, Row, Verdict
from benchmarks.timing import NotMeasured, Size

Sections = Mapping[str, Sequence[Row]]
"""The rows under the title of the module that measured them."""

_HEAD = ("", "best", "median", "ratio", "budget", "")
_HEADINGS: dict[Verdict, str] = {
    "known miss": "Known misses, which do not fail the run:",
    "reached unexpectedly": "Known misses that reached their budget; remove the mark `known_miss`:",
    "not measured": "Not measured:",
    "missed": "Missed:",
}
"""Failures come last, since the last lines are those that are read."""


def table(sections: Sections) -> str:
    """All sections, aligned alike."""
    cells = {title: [_cells(row) for row in rows] for title, rows in sections.items()}
    lines = [_HEAD, *(line for rows in cells.values() for line in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEAD))]
    text: list[str] = []
    for title, rows in cells.items():
        text += ["", title, _aligned(_HEAD, widths), *(_aligned(line, widths) for line in rows)]
    return "\n".join(text[1:])


def judgement(sections: Sections) -> str:
    """Every row that is not as it should be, by name, and a last line that says how the run ended."""
    lines: list[str] = []
    for verdict, heading in _HEADINGS.items():
        rows = [f"  {title}: {_explain(row)}" for title, row in _judged(sections) if row.verdict == verdict]
        lines += [heading, *rows] if rows else []
    return "\n".join([*lines, _summary(sections)])


def has_failed(sections: Sections) -> bool:
    """Whether a row missed its budget, was not measured, or reached a budget that it is marked to miss."""
    return any(row.verdict in FAILURES for _, row in _judged(sections))


def as_json(sections: Sections) -> list[dict[str, Any]]:
    """The same as plain data; times in seconds, sizes in bytes."""
    return [{"section": title, "rows": [_plain(row) for row in rows]} for title, rows in sections.items()]


def duration(seconds: float) -> str:
    """Seconds in the unit that reads best."""
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def size(number: float) -> str:
    """A number of bytes."""
    return f"{number:,.0f} B"


def _judged(sections: Sections) -> Iterator[tuple[str, Row]]:
    return ((title, row) for title, rows in sections.items() for row in rows)


def _explain(row: Row) -> str:
    if row.missing_because:
        return f"{row.subject}: {row.missing_because}"
    bound = f" (budget {_bound(row.budget)})" if row.budget else ""
    reason = f": {row.known_miss}" if row.known_miss else ""
    return f"{row.subject}: {_ratio(row)}{bound}{reason}"


def _summary(sections: Sections) -> str:
    verdicts = [row.verdict for _, row in _judged(sections)]
    counts = [f"{verdicts.count(verdict)} {verdict}" for verdict in ("reached", *_HEADINGS)]
    counts = [count for count in counts if not count.startswith("0 ")] or ["no row has a budget"]
    return f"bench: {'FAILED' if has_failed(sections) else 'passed'}: {', '.join(counts)}"


def _cells(row: Row) -> tuple[str, ...]:
    if isinstance(row.measured, NotMeasured):
        best, middle = "not measured", ""
    else:
        shown = size if isinstance(row.measured, Size) else duration
        best, middle = shown(row.measured.best), shown(row.measured.median)
    verdict = row.verdict or ""
    return (
        row.subject,
        best,
        middle,
        _ratio(row),
        _bound(row.budget) if row.budget else "",
        verdict.upper() if verdict in FAILURES else verdict,
    )


def _ratio(row: Row) -> str:
    value = row.ratio.value if row.ratio else None
    return row.ratio.reads.format(value) if row.ratio and value is not None else ""


def _bound(budget: Budget) -> str:
    return f"{'≤' if budget.bound == 'at most' else '≥'} {budget.limit:g}"


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    subject, best, middle, ratio, budget, verdict = (
        cell.rjust(width) if column in (1, 2) else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(line, widths, strict=True))
    )
    return f"  {subject}  {best}  {middle}  {ratio}  {budget}  {verdict}".rstrip()


def _plain(row: Row) -> dict[str, Any]:
    return {
        "subject": row.subject,
        "measured": asdict(row.measured),
        "ratio": row.ratio.value if row.ratio else None,
        "ratio_of_medians": row.ratio.by_median if row.ratio else None,
        "reads": row.ratio.reads if row.ratio else None,
        "budget": asdict(row.budget) if row.budget else None,
        "verdict": row.verdict,
        "known_miss": row.known_miss or None,
    }
