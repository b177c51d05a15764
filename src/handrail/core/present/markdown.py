"""Markdown tables for tool authors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from handrail.core.define.names import humanize_field_name


def build_markdown_table(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str] | None = None,
    *,
    heading: str | None = None,
    total: int | None = None,
    limit: int = 50,
) -> str:
    """A table of rows with a heading above and "(N total)" below when not all of them are shown."""
    names = list(columns or dict.fromkeys(name for row in rows for name in row))
    lines = [f"## {heading}", ""] if heading else []
    if names:
        lines.append(f"| {' | '.join(_cell(humanize_field_name(name)) for name in names)} |")
        lines.append(f"|{'|'.join(' --- ' for _ in names)}|")
        lines += (f"| {' | '.join(_cell(row.get(name)) for name in names)} |" for row in rows[:limit])
    count = len(rows) if total is None else total
    lines.append(f"({count} total)" if count <= min(len(rows), limit) else f"... ({count} total)")
    return "\n".join(lines)


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return " ".join(text.replace("|", "\\|").split())
