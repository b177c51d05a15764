"""register_builtin_tools: many tools at once, their texts in one folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from handrail.core.define.body import outside_place
from handrail.core.define.description import beside, split
from handrail.core.define.tool import Tool, digest
from handrail.core.errors import DefinitionError
from handrail.core.find.registry import Registry, as_tool, default_registry


def register_builtin_tools(
    folder: str | Path,
    entries: Iterable[Any],
    registry: Registry = default_registry,
    *,
    replace: bool = False,
) -> list[Tool]:
    """Register tools, or `{"tool": ..., "permissions": {...}}`; `<tool>.txt` in the folder describes one.

    All or none: where one cannot be registered, the registry is left as it was.
    """
    texts = Path(folder)
    if not texts.is_dir():
        raise DefinitionError(
            f"there is no folder {str(folder)!r} to find descriptions in",
            place=outside_place(),
            remedy="give the folder of the tools' modules, such as Path(__file__).parent",
        )
    read = [_read(entry, texts) for entry in entries]
    before = registry.snapshot()
    registered: list[Tool] = []
    try:
        for tool, needed in read:
            registered.append(registry.register(tool, replace=replace, permissions=needed))
    except DefinitionError:
        for tool in reversed(registered):
            _take_back(tool, before.find(tool.id), registry)
        raise
    return registered


def _take_back(tool: Tool, old: Tool | None, registry: Registry) -> None:
    if old is None:
        registry.unregister(tool.id)
    else:
        registry.register(old, replace=True)


def _read(entry: Any, folder: Path) -> tuple[Tool, Mapping[str, Any] | None]:
    if not isinstance(entry, Mapping):
        return _described(as_tool(entry), folder), None
    if "tool" not in entry or not entry.keys() <= {"tool", "permissions"}:
        raise DefinitionError(
            f"an entry has {', '.join(map(repr, entry)) or 'nothing'} where 'tool' and 'permissions' belong",
            place=outside_place(),
            remedy='write {"tool": read, "permissions": {"required": ["read"]}}',
        )
    return _described(as_tool(entry["tool"]), folder), entry.get("permissions")


def _described(tool: Tool, folder: Path) -> Tool:
    text = beside(tool.id, folder)
    if text is None or not text.strip():
        return tool
    first, rest = split(text)
    described = replace(tool, description=first, guidance=rest or tool.guidance)
    return replace(described, digest=digest(described)) if described.ready else described
