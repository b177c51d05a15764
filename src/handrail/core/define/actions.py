"""Action tools: one flat input with an `action`, and what each action needs beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def action_error(
    tool: str, action: str, args: Any, required: Mapping[str, Iterable[str]]
) -> dict[str, str] | None:
    """What is wrong when a field the action needs is not given, for a body to return as it is; else None.

    `if error := action_error("manageTools", args.action, args, NEEDS): return error` answers with
    `{"error": "manageTools.create requires 'slug'"}`.
    """
    for name in required.get(action, ()):
        value = args.get(name) if isinstance(args, Mapping) else getattr(args, name, None)
        if value is None:
            return {"error": f"{tool}.{action} requires {name!r}"}
    return None
