"""The CSV of a table section: every row, every cell, and nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from handrail.core.define.result import Result
from handrail.core.present.block_content import as_number
from handrail.core.present.blocks import tool_output_to_blocks
from handrail.doors.web.views.result import ToolOrSections, as_result
from handrail.platform.display_text import visible_json

BOM = "\ufeff"
"""Tells spreadsheets that the text is UTF-8."""
_RUN = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # fmt: skip


def table_csv(tool: ToolOrSections, result: Result | Mapping[str, Any], section: str) -> str | None:
    """A table section as CSV (RFC 4180, with a byte order mark); None where the result has no such table."""
    blocks = tool_output_to_blocks(tool, as_result(result).data)
    named = [block for block in blocks if block.key and block.key == section]
    tables = [block.content for block in named if block.type == "table"]
    tables += [block.content["table"] for block in named if "table" in block.content]
    if not tables:
        return None
    content = tables[0]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([_text(str(column["label"])) for column in content["columns"]])
    writer.writerows([_cell(cell) for cell in row] for row in content["rows"])
    return BOM + out.getvalue()


def _cell(cell: Any) -> str:
    """Numbers stay numbers, null is empty, and what has parts is JSON."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell if as_number(cell) is not None and not cell.startswith("+") else _text(cell)
    return visible_json(cell) if isinstance(cell, (Mapping, list, bool)) else str(cell)


def _text(text: str) -> str:
    """Text that a spreadsheet takes as text: a leading apostrophe keeps it from being run."""
    clean = text.replace("\x00", "\\x00").encode("utf-8", "backslashreplace").decode()
    return f"'{clean}" if clean.lstrip("'").startswith(_RUN) else clean
