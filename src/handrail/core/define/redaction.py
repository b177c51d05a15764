"""Redaction: which arguments are secret, how they are masked, and kept out of texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote, quote_plus

from pydantic_core import to_jsonable_python

from handrail.core.define.call import Repair
from handrail.core.define.decision import Decision
from handrail.core.define.schema import JsonSchema, branches, objects_in, resolve

MASK = "•••"
NAME_REPAIRS = frozenset({"parameter name", "name of this alias"})
"""Kinds of repair whose before and after are names, not values."""
_MAX_DEPTH = 24
_MAX_STEPS = 2_000

Path = tuple[str, ...]
"""The way to a secret: names, `*` for any item or further property, `**` for any number of steps."""


def secret_paths(schema: JsonSchema) -> frozenset[str]:
    """Dotted paths of properties marked as passwords, write-only or `x-secret`; see `Path`.

    A schema that refers to itself has no end of paths: there the names of secrets count wherever they occur.
    """
    objects = list(objects_in(schema))
    if not any(map(_is_secret, objects)):
        return frozenset()
    paths, complete = _find_secrets(schema, schema, by_name=True)
    if not complete:
        paths, _ = _find_secrets(schema, schema, by_name=False)
        for node in objects:
            properties = node.get("properties")
            for name, part in properties.items() if isinstance(properties, Mapping) else ():
                below, complete = _find_secrets(part, schema, by_name=False)
                ends = below if complete else {()} if below else set()
                paths |= {("**", _escaped(name), *path) for path in ends}
    return frozenset(".".join(path) for path in paths if path)


def _is_secret(node: Mapping[str, Any]) -> bool:
    return node.get("format") == "password" or any(node.get(key) is True for key in ("writeOnly", "x-secret"))


def _find_secrets(start: Any, root: JsonSchema, by_name: bool) -> tuple[set[Path], bool]:
    """The secrets inside a schema, with or without steps by name; and whether these are all."""
    paths: set[Path] = set()
    complete = True
    stack: list[tuple[Any, Path]] = [(start, ())]
    for _ in range(_MAX_STEPS):
        if not stack:
            return paths, complete
        node, path = stack.pop()
        node = resolve(node, root)
        if _is_secret(node):
            paths.add(path)
        elif len(path) > _MAX_DEPTH:
            complete = False
        else:
            stack += [
                (part, path + step)
                for step, part in _steps(node)
                if isinstance(part, Mapping) and (by_name or step in ((), ("*",)))
            ]
    return paths, False


def _steps(node: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    """The schemas inside a schema, each with the step to what it describes."""
    for name, part in (node.get("properties") or {}).items():
        yield (_escaped(name),), part
    yield from ((("*",), part) for part in (node.get("patternProperties") or {}).values())
    for key in ("items", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", "contains"):
        yield ("*",), node.get(key)
    for key in ("prefixItems", "items"):
        yield from ((("*",), part) for part in _listed(node.get(key)))
    for key in ("anyOf", "oneOf", "allOf"):
        yield from (((), part) for part in _listed(node.get(key)))
    for key in ("if", "then", "else"):
        yield (), node.get(key)
    yield from (((), part) for part in (node.get("dependentSchemas") or {}).values())


def _listed(parts: Any) -> list[Any]:
    return parts if isinstance(parts, list) else []


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace(".", "~1").replace("*", "~2")


def _name(step: str) -> str:
    return step.replace("~2", "*").replace("~1", ".").replace("~0", "~")


_DROPPED = object()
Change = Callable[[Any, str], Any]
"""(what stands at a secret path, where that is) -> what stands there instead, or `_DROPPED`."""


def mask_paths(value: Any, secrets: Iterable[str]) -> Any:
    """A copy of arguments with the values at the secret paths replaced."""
    for path in secrets:
        value = _changed_at(value, tuple(path.split(".")), lambda secret, _: MASK)
    return value


def drop_paths(value: Any, secrets: Iterable[str]) -> tuple[Any, tuple[str, ...]]:
    """A copy of arguments without what stands at the secret paths, and the paths at which something stood."""
    dropped: list[str] = []

    def drop(secret: Any, location: str) -> Any:
        dropped.append(location)
        return _DROPPED

    for path in sorted(secrets):
        value = _changed_at(value, tuple(path.split(".")), drop)
    return value, tuple(dropped)


def _changed_at(value: Any, path: Path, change: Change, location: str = "") -> Any:
    if not path:
        return value if value is None else change(value, location)
    head, rest = path[0], path[1:]
    if head == "**":
        value = _changed_at(value, rest, change, location)
        rest = path

    def changed(name: Any, part: Any) -> Any:
        return _changed_at(part, rest, change, f"{location}.{name}" if location else str(name))

    is_wide, own = head in ("*", "**"), _name(head)
    if isinstance(value, Mapping):
        parts = {
            name: changed(name, part) if is_wide or name == own else part for name, part in value.items()
        }
        return {name: part for name, part in parts.items() if part is not _DROPPED}
    if isinstance(value, list) and is_wide:
        items = [changed(index, item) for index, item in enumerate(value)]
        return [item for item in items if item is not _DROPPED]
    return value


def mask_repairs(repairs: tuple[Repair, ...], secrets: Iterable[str]) -> tuple[Repair, ...]:
    """Repairs as a record may hold them: nothing of a secret, nor of what holds one."""
    paths = [tuple(path.split(".")) for path in secrets]
    return tuple(_masked_repair(repair, paths) for repair in repairs) if paths else repairs


def _masked_repair(repair: Repair, paths: list[Path]) -> Repair:
    location = tuple(map(_escaped, repair.path.split("."))) if repair.path else ()
    holds = _may_hold(repair.before) or _may_hold(repair.after)
    if repair.kind in NAME_REPAIRS or not any(_touches(path, location, holds) for path in paths):
        return repair
    return replace(repair, before=MASK, after=MASK)


def mask_refused_arguments(raw: Any, schema: JsonSchema, secrets: Iterable[str]) -> dict[str, Any] | None:
    """Refused arguments as a record may hold them; what stands under an unknown name may be a secret."""
    if not isinstance(raw, Mapping):
        return None
    try:
        shown: dict[str, Any] = to_jsonable_python(raw, inf_nan_mode="null", fallback=str)
    except (ValueError, RecursionError):
        return None
    paths = [tuple(path.split(".")) for path in secrets]
    if not paths:
        return shown
    names = {name for node in branches(schema, schema) for name in node.get("properties") or ()}
    for name, value in shown.items():
        location = (_escaped(name),)
        if name not in names or any(_touches(path, location, _may_hold(value)) for path in paths):
            shown[name] = MASK
    return shown


def _may_hold(value: Any) -> bool:
    """Whether something can have a secret inside: an object, a list, or the text of one."""
    if isinstance(value, str):
        return value.lstrip()[:1] in ("{", "[")
    return isinstance(value, (Mapping, list))


def _touches(path: Path, location: Path, holds: bool) -> bool:
    """Whether a value at a place is a secret or lies in one; and if it can hold one, whether it may."""
    if not path:
        return True
    if not location:
        return holds
    if path[0] == "**":
        return _touches(path[1:], location, holds) or _touches(path, location[1:], holds)
    return path[0] in ("*", location[0]) and _touches(path[1:], location[1:], holds)


def restore_masked(edited: Any, original: Any) -> Any:
    """Edited arguments in which every mask that was left alone is the original value again.

    A mask whose original cannot be told is nobody's secret: null.
    """
    if edited == MASK:
        return original
    if isinstance(edited, Mapping):
        before = original if isinstance(original, Mapping) else {}
        return {name: restore_masked(part, before.get(name)) for name, part in edited.items()}
    if isinstance(edited, list):
        rows = original if isinstance(original, list) else []
        return [restore_masked(item, _row_of(index, edited, rows)) for index, item in enumerate(edited)]
    return edited


def _row_of(index: int, edited: list[Any], rows: list[Any]) -> Any:
    """The row an edited one was: the same but for its masks; failing that, in the same place of as many."""
    if index < len(rows) and _is_same(edited[index], rows[index]):
        return rows[index]
    same = [row for row in rows if _is_same(edited[index], row)]
    if len(same) == 1:
        return same[0]
    return rows[index] if not same and len(rows) == len(edited) else None


def _is_same(edited: Any, original: Any) -> bool:
    """Whether something is as it was, but for its masks."""
    if edited == MASK:
        return original is not None
    if isinstance(edited, Mapping) and isinstance(original, Mapping):
        return edited.keys() == original.keys() and all(
            _is_same(part, original[name]) for name, part in edited.items()
        )
    if isinstance(edited, list) and isinstance(original, list):
        return len(edited) == len(original) and all(map(_is_same, edited, original))
    return bool(edited == original)


def masked_values(args: Any, shown: Any) -> Iterator[str]:
    """The texts and numbers among arguments that their masked view does not show."""
    if isinstance(args, Mapping):
        for name, part in args.items():
            yield from masked_values(part, shown.get(name) if isinstance(shown, Mapping) else shown)
    elif isinstance(args, list):
        for index, item in enumerate(args):
            yield from masked_values(item, shown[index] if isinstance(shown, list) else shown)
    elif shown == MASK and isinstance(args, (str, int, float)) and not isinstance(args, bool):
        yield str(args)


def redact_values(value: Any, secrets: Iterable[str]) -> Any:
    """A copy of JSON data or bytes in which none of the secret texts occur, nor their usual spellings."""
    spellings = _all_spellings(secrets)
    return _redact(value, spellings) if spellings else value


def redact_settled_text(text: str, secrets: Iterable[str]) -> tuple[str, str]:
    """Of a text that goes on: what may be given out, scrubbed, and the end that has to wait for more.

    Only the longest end waits that may be the beginning of a secret, with a secret that reaches into it.
    """
    spellings = _all_spellings(secrets)
    cut = min((_partial_secret_start(text, secret) for secret in spellings), default=len(text))
    cut = next((start for start, end in _places(text, spellings) if start < cut < end), cut)
    return _redact(text[:cut], spellings), text[cut:]


def _partial_secret_start(text: str, secret: str) -> int:
    """Where the longest end of a text stands with which the secret begins, but does not end."""
    start = text.find(secret[0], max(0, len(text) - len(secret) + 1))
    while start >= 0 and not secret.startswith(text[start:]):
        start = text.find(secret[0], start + 1)
    return start if start >= 0 else len(text)


def _places(text: str, secrets: Iterable[str]) -> list[tuple[int, int]]:
    """Where secrets stand in a text, in order; those that overlap are one place."""
    matches = []
    for secret in secrets:
        start = text.find(secret)
        while start >= 0:
            matches.append((start, start + len(secret)))
            start = text.find(secret, start + 1)
    places: list[tuple[int, int]] = []
    for start, end in sorted(matches):
        if places and start < places[-1][1]:
            places[-1] = (places[-1][0], max(end, places[-1][1]))
        else:
            places.append((start, end))
    return places


def _all_spellings(secrets: Iterable[str]) -> list[str]:
    """Every spelling of the secrets, the longest first."""
    spellings = {spelling for secret in secrets if secret for spelling in _spellings(secret)}
    return sorted(spellings, key=len, reverse=True)


def _spellings(secret: str) -> Iterator[str]:
    """A secret as it is, and as it reads inside JSON, Python and addresses."""
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield repr(secret)[1:-1]
    yield quote(secret, safe="", errors="replace")
    yield quote_plus(secret, errors="replace")


def _redact(value: Any, secrets: list[str]) -> Any:
    if isinstance(value, str):
        pieces: list[str] = []
        done = 0
        for start, end in _places(value, secrets):
            pieces += (value[done:start], MASK)
            done = end
        return "".join((*pieces, value[done:]))
    if isinstance(value, bytes):
        for secret in secrets:
            value = value.replace(secret.encode(errors="replace"), MASK.encode())
        return value
    if isinstance(value, Mapping):
        return {_redact(name, secrets): _redact(part, secrets) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_redact(item, secrets) for item in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool) and str(value) in secrets:
        return MASK
    return value


def redact_decision(
    decision: Decision, args: Mapping[str, Any] | None, paths: Iterable[str], secrets: Iterable[str] | None
) -> Decision:
    """The decision as records and cards may hold it: a tool or a check may have quoted what it was given."""
    values = set(secrets or ())
    if paths and args is not None:
        values.update(masked_values(args, mask_paths(args, paths)))
    if not values:
        return decision
    trace = tuple(replace(step, reason=redact_values(step.reason, values)) for step in decision.trace)
    return replace(decision, reason=redact_values(decision.reason, values), trace=trace)
