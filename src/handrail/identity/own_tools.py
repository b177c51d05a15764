"""A tenant's own tools: rows made into tools, with bodies that somebody gives for their execution."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from handrail.core.define.check import check
from handrail.core.define.styles import from_json_schema
from handrail.core.define.tool import Tool
from handrail.core.errors import DefinitionError
from handrail.core.find.visibility import DEFAULT_TENANT_ID, ToolRow
from handrail.store.text import WIDEST

_log = logging.getLogger("handrail.identity")

Bodies = Callable[[ToolRow], Callable[..., Any] | None]
"""From a stored tool to the function that does its work; None where its execution is not known here."""

_ANYTHING = {"type": "object", "properties": {}, "additionalProperties": False}


def own_tools(rows: Iterable[ToolRow], bodies: Bodies | None) -> Iterator[tuple[ToolRow, Tool]]:
    """The stored tools that can run here, each with its row. One that is written wrongly is left out."""
    if bodies is None:
        return
    for row in rows:
        if row.kind != "tenant_custom":
            continue
        try:
            body = bodies(row)
            if body is not None:
                yield row, make_own(row, body)
        except Exception:
            _log.exception("the tool %s of tenant %s cannot be used", row.slug, row.tenant)


def make_own(row: ToolRow, body: Callable[..., Any]) -> Tool:
    """The tool of a row. Raises `DefinitionError` when it cannot be used as it is stored."""
    if not (row.description or "").strip():
        raise DefinitionError(
            "it has no description", tool=row.slug, remedy="say in one sentence what it does"
        )
    if len(row.slug) > WIDEST:
        raise DefinitionError("its slug is too long", tool=row.slug[:WIDEST], remedy="give it a short one")
    given: dict[str, Any] = {
        "description": row.description,
        "level": row.level or "write",
        "slug": row.slug,
        "policy": row.permission_policy or "auto",
        "origin": "tenant_custom",
        "tenants": [] if row.tenant == DEFAULT_TENANT_ID else [row.tenant],
    }
    optional = {
        "name": row.name,
        "category": row.category,
        "icon": row.icon,
        "danger": row.danger,
        "requires": row.requires,
        "output": row.output_schema,
    }
    given |= {name: value for name, value in optional.items() if value is not None}
    schema = _ANYTHING if row.input_schema is None else row.input_schema
    made: Tool = from_json_schema(row.slug, schema, execute=body, **given)
    check(made)
    if made.slug != row.slug:
        raise DefinitionError(f"its slug became {made.slug!r}", tool=row.slug)
    return made
