"""`tools/list`: the tools of a principal as the protocol describes them, a page at a time."""

from __future__ import annotations

import base64
import binascii
from typing import Any
from weakref import WeakKeyDictionary

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.run.catalogue.export import to_mcp
from handrail.doors.mcp.results import output_schema
from handrail.engine.handrail import Handrail

_TTL_MS = 30_000
"""For how long a client may take a list for fresh: notices tell of changes, but not to everybody."""
_HEADER_KEYWORD = "x-mcp-header"
SEARCH_TOOLS = ("search_tools", "describe_tool")
"""Tools with which a client finds those that its model has no room for."""
_Descriptions = WeakKeyDictionary[Tool, dict[str, Any]]


class ToolListing:
    """What `tools/list` tells. A tool is described once, however many see it."""

    def __init__(self, hr: Handrail, page: int) -> None:
        self._hr = hr
        self._page = page
        self._descriptions: tuple[_Descriptions, _Descriptions] = (WeakKeyDictionary(), WeakKeyDictionary())
        """For clients of before 2026, and of today."""
        self._annotated: WeakKeyDictionary[Tool, bool] = WeakKeyDictionary()

    async def page(self, principal: Principal, cursor: str | None, modern: bool) -> dict[str, Any]:
        """The page after a cursor. A tool that comes or goes meanwhile moves no other."""
        after = None if cursor is None else _read_cursor(cursor)
        tools = await self._hr.tools(principal, source="mcp", after=after, limit=self._page + 1)
        shown = tools[: self._page]
        page: dict[str, Any] = {}
        more = len(tools) > len(shown)
        if more or cursor is not None:  # on several pages, the tools that find others stand on the first
            first = await self._search_tools(principal) if cursor is None else []
            shown = shown[: max(1, self._page - len(first))]
            if more:
                page["nextCursor"] = _write_cursor(shown[-1].id)
            shown = [*first, *(tool for tool in shown if tool.id not in SEARCH_TOOLS)]
        page["tools"] = [self.describe(tool, modern) for tool in shown]
        if modern:
            page |= {"ttlMs": _TTL_MS, "cacheScope": "private"}
        return page

    async def _search_tools(self, principal: Principal) -> list[Tool]:
        finders: list[Tool] = []
        for name in SEARCH_TOOLS:
            near = await self._hr.tools(principal, source="mcp", after=name[:-1], limit=2)
            finders += [tool for tool in near if tool.id == name]
        return finders

    def describe(self, tool: Tool, modern: bool) -> dict[str, Any]:
        """One tool, as a client of this time knows it."""
        by_time = self._descriptions[modern]
        description = by_time.get(tool)
        if description is None:
            description = by_time[tool] = to_mcp(tool)
            description.pop("outputSchema", None)
            if (output := output_schema(tool, modern)) is not None:
                description["outputSchema"] = output
        return description

    def is_annotated(self, tool: Tool) -> bool:
        """Whether some of its arguments are to stand in headers as well."""
        has_headers = self._annotated.get(tool)
        if has_headers is None:
            has_headers = self._annotated[tool] = _has_header_params(tool.input_schema)
        return has_headers


def _has_header_params(schema: Any) -> bool:
    if isinstance(schema, dict):
        return _HEADER_KEYWORD in schema or any(map(_has_header_params, schema.values()))
    return isinstance(schema, list) and any(map(_has_header_params, schema))


def _write_cursor(id: str) -> str:
    return base64.urlsafe_b64encode(id.encode()).decode()


def _read_cursor(cursor: str) -> str:
    try:
        return base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True).decode()
    except (ValueError, binascii.Error):
        raise MCPError(INVALID_PARAMS, "This cursor is none of ours. Begin again without one.") from None
