"""register_builtin_tools: many tools at once, their texts in one folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from handrail.core.define.description import beside, split
from handrail.core.define.tool import Tool, digest
from handrail.core.find.registry import Registry, as_tool


def register_builtin_tools(
    folder: str | Path, entries: Iterable[Any], registry: Registry, *, replace: bool = False
) -> list[Tool]:
    """Register tools, or `{"tool": ..., "permissions": {...}}`; `<tool>.txt` in the folder describes one."""
    registered: list[Tool] = []
    for entry in entries:
        given, permissions = (
            (entry["tool"], entry.get("permissions")) if isinstance(entry, Mapping) else (entry, None)
        )
        described = _described(as_tool(given), Path(folder))
        registered.append(registry.register(described, replace=replace, permissions=permissions))
    return registered


def _described(tool: Tool, folder: Path) -> Tool:
    text = beside(tool.id, folder)
    if text is None or not text.strip():
        return tool
    first, rest = split(text)
    described = replace(tool, description=first, guidance=rest or tool.guidance)
    return replace(described, digest=digest(described)) if described.ready else described
