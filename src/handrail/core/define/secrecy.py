"""Secrecy: which arguments are secret, and how records are masked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from handrail.core.define.schema import JsonSchema, resolve

MASK = "•••"
_MAX_DEPTH = 12


def secret_paths(schema: JsonSchema) -> frozenset[str]:
    """Dotted paths of properties marked as passwords, write-only or `x-secret`; `*` stands for list items."""
    found: set[str] = set()

    def walk(node: Any, path: str, depth: int) -> None:
        node = resolve(node, schema)
        if depth > _MAX_DEPTH or not node:
            return
        if path and (node.get("format") == "password" or node.get("writeOnly") or node.get("x-secret")):
            found.add(path)
            return
        for name, part in (node.get("properties") or {}).items():
            walk(part, f"{path}.{name}" if path else name, depth + 1)
        if isinstance(node.get("items"), Mapping):
            walk(node["items"], f"{path}.*", depth + 1)
        for key in ("anyOf", "oneOf", "allOf"):
            for part in node.get(key) or ():
                walk(part, path, depth + 1)

    walk(schema, "", 0)
    return frozenset(found)


def masked(value: Any, secrets: Iterable[str]) -> Any:
    """A copy of arguments with the values at the secret paths replaced."""
    for path in secrets:
        value = _mask_at(value, path.split("."))
    return value


def _mask_at(value: Any, path: list[str]) -> Any:
    if not path:
        return value if value is None else MASK
    head, rest = path[0], path[1:]
    if isinstance(value, Mapping) and head in value:
        return {**value, head: _mask_at(value[head], rest)}
    if isinstance(value, list) and head == "*":
        return [_mask_at(item, rest) for item in value]
    return value


def unmasked(edited: Any, original: Any) -> Any:
    """Edited arguments in which every mask that was left alone is the original value again."""
    if edited == MASK:
        return original
    if isinstance(edited, Mapping) and isinstance(original, Mapping):
        return {name: unmasked(part, original.get(name)) for name, part in edited.items()}
    if isinstance(edited, list) and isinstance(original, list) and len(edited) == len(original):
        return [unmasked(one, before) for one, before in zip(edited, original, strict=True)]
    return edited


def scrubbed(value: Any, secrets: Iterable[str]) -> Any:
    """A copy of a JSON value in which none of the secret texts occur."""
    known = [secret for secret in secrets if secret]
    if not known:
        return value
    return _scrub(value, known)


def _scrub(value: Any, secrets: list[str]) -> Any:
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, MASK)
        return value
    if isinstance(value, Mapping):
        return {_scrub(name, secrets): _scrub(part, secrets) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_scrub(item, secrets) for item in value]
    return value
