"""Export of a tool session: its submissions as JSON data and as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from handrail.identity.session_aggregates import Aggregate
from handrail.store.tool_sessions import ToolSession, ToolSessionSubmission

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_FIRST_COLUMNS = ("participant", "submitted_at")


def export_json(
    session: ToolSession, submissions: Sequence[ToolSessionSubmission], aggregate: Aggregate | None
) -> dict[str, Any]:
    """Everything about a session."""
    return {
        "session": session.to_dict(),
        "submissions": [submission.to_dict() for submission in submissions],
        "aggregate": None if aggregate is None else aggregate.data,
    }


def export_json_for_guests(
    session: ToolSession, submissions: Sequence[ToolSessionSubmission], aggregate: Aggregate | None
) -> dict[str, Any]:
    """What a guest reads on the page, and nothing more: no ids, nothing of how the tenant keeps it."""
    return {
        "session": {"title": session.title, "status": session.status, "created_at": session.created_at},
        "submissions": [
            {
                "participant": submission.user_display_name,
                "created_at": submission.created_at,
                "input": submission.input,
                "output": submission.output,
            }
            for submission in submissions
        ],
        "aggregate": None if aggregate is None else aggregate.data,
    }


def export_csv(submissions: Sequence[ToolSessionSubmission]) -> str:
    """One line a submission, a column for each field of input and output at the top."""
    rows = [_row(submission) for submission in submissions]
    columns = list(dict.fromkeys((*_FIRST_COLUMNS, *_names(rows, "input"), *_names(rows, "output"))))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([_cell(name) for name in columns])
    writer.writerows([_cell(row.get(name, "")) for name in columns] for row in rows)
    return text.getvalue()


def _row(submission: ToolSessionSubmission) -> dict[str, Any]:
    at = datetime.fromtimestamp(submission.created_at, UTC).isoformat(timespec="seconds")
    row: dict[str, Any] = {
        "participant": submission.user_display_name or submission.user_id,
        "submitted_at": at,
    }
    for side, value in (("input", submission.input), ("output", submission.output)):
        if isinstance(value, dict):
            row |= {f"{side}.{name}": part for name, part in value.items()}
        else:
            row[side] = value
    return row


def _names(rows: Iterable[dict[str, Any]], side: str) -> Iterable[str]:
    return (name for row in rows for name in row if name == side or name.startswith(f"{side}."))


def _cell(value: Any) -> str:
    """A value as a spreadsheet reads it. Text that would be a formula there stays text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA_STARTS) else value
    return json.dumps(value, ensure_ascii=False)
