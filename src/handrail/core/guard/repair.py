"""Repair: the lossless corrections of a weak model's arguments that their schema allows."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from handrail.core.define.call import Repair
from handrail.core.guard.repair_shape import Shape, Shapes, same, type_of
from handrail.core.guard.repair_values import fold, may_be_several, readings

Path = tuple[str | int, ...]
Fixed = tuple[Any, tuple[Repair, ...]]
"""A value and the repairs that led to it, in the order they were made."""

MAX_JSON = 1_000_000
MAX_JSON_DEPTH = 64


def repair(
    args: Mapping[str, Any], schema: Mapping[str, Any], aliases: Mapping[str, Sequence[str]] = {}
) -> tuple[dict[str, Any], tuple[Repair, ...]]:
    """The arguments with every lossless correction the schema allows, and what was corrected."""
    return _Walk(schema, aliases).arguments(dict(args))


class _Walk:
    """One pass over the arguments. Whatever fits stays; what can be read in two ways stays as well."""

    def __init__(self, schema: Mapping[str, Any], aliases: Mapping[str, Sequence[str]]) -> None:
        self._schema = schema
        self._aliases = aliases
        self._shapes = Shapes(schema)

    def arguments(self, args: dict[str, Any]) -> tuple[dict[str, Any], tuple[Repair, ...]]:
        repairs: list[Repair] = []
        while True:
            if (inner := self._wrapped(args)) is not None:
                repairs.append(Repair("", "wrapping removed", args, inner))
                args = inner
            after, more = self._settle(args, self._schema, (), 0)
            if not isinstance(after, dict):
                return args, tuple(repairs)
            args = after
            repairs.extend(more)
            # A dropped null can leave the wrapping as the only key.
            if not more or self._wrapped(args) is None:
                return args, tuple(repairs)

    def _wrapped(self, args: dict[str, Any]) -> dict[str, Any] | None:
        """The arguments proper, when they are all there is under one key that is no parameter."""
        if len(args) != 1:
            return None
        [(key, inner)] = args.items()
        root = self._shapes.of(self._schema)
        shapes = [self._shapes.of(branch) for branch in root.branches] or [root]
        if any(self._is_known(key, shape) or shape.welcomes(key) for shape in shapes):
            return None
        if isinstance(inner, str):
            inner = parse_json(inner)
        if not isinstance(inner, dict):
            return None
        has_parameter = any(self._is_known(name, shape) for name in inner for shape in shapes)
        return inner if has_parameter or not (inner or root.required) else None

    def _is_known(self, key: str, shape: Shape) -> bool:
        return key in shape.properties or fold(key) in self._labels(shape, ())

    def _settle(self, value: Any, schema: Any, path: Path, depth: int) -> Fixed:
        """The value as its schema wants it, or as it came."""
        # Once for the place and not for each branch: where an object may be meant, none is taken apart.
        unboxed = self._unboxed(value, schema, path, depth) if isinstance(value, dict) else None
        return unboxed or self._fitted(value, schema, path, depth)

    def _fitted(self, value: Any, schema: Any, path: Path, depth: int) -> Fixed:
        if schema is True or type_of(value) is None or self._shapes.exhausted(depth):
            return value, ()
        shape = self._shapes.of(schema)
        if not shape.branches:
            if shape.takes(value):
                return self._inside(value, shape, path, depth)
            return _only(self._readings(value, shape, path, depth)) or (value, ())
        if self._shapes.fits(value, schema, depth):
            return value, ()
        fixed = ((branch, self._fitted(value, branch, path, depth + 1)) for branch in shape.branches)
        fitting = [fix for branch, fix in fixed if self._shapes.fits(fix[0], branch, depth)]
        return _only(fitting) or (value, ())

    def _inside(self, value: Any, shape: Shape, path: Path, depth: int) -> Fixed:
        """The value with its contents repaired."""
        if isinstance(value, dict):
            return self._object(value, shape, path, depth)
        if isinstance(value, list):
            return self._array(value, shape, path, depth)
        return value, ()

    def _object(self, value: dict[str, Any], shape: Shape, path: Path, depth: int) -> Fixed:
        meant = self._meant(value, shape, path)
        claims = Counter([*meant.values(), *value])
        after: dict[str, Any] = {}
        repairs: list[Repair] = []
        for key, inner in value.items():
            contested = claims[meant.get(key, key)] > 1  # two keys for one property: which is meant?
            name = key if contested else meant.get(key, key)
            place, schema = (*path, name), shape.entry(name)
            if name != key:
                repairs.append(Repair(_dotted(place), "parameter name", key, name))
            optional = name in shape.properties and name not in shape.required and not contested
            if inner is None and optional and not self._shapes.fits(None, schema, depth):
                repairs.append(Repair(_dotted(place), "null left out", None, None))
                continue
            after[name], more = self._settle(inner, schema, place, depth + 1)
            repairs.extend(more)
        return after if repairs else value, tuple(repairs)

    def _array(self, value: list[Any], shape: Shape, path: Path, depth: int) -> Fixed:
        fixed = [
            self._settle(inner, shape.item(index), (*path, index), depth + 1)
            for index, inner in enumerate(value)
        ]
        repairs = tuple(step for _, more in fixed for step in more)
        return [after for after, _ in fixed] if repairs else value, repairs

    def _meant(self, value: dict[str, Any], shape: Shape, path: Path) -> dict[str, str]:
        """The property each unknown key is another spelling of, where that is just one."""
        strangers = [key for key in value if key not in shape.properties and not shape.welcomes(key)]
        labels = self._labels(shape, path) if strangers else {}
        return {key: min(names) for key in strangers if len(names := labels.get(fold(key), set())) == 1}

    def _labels(self, shape: Shape, path: Path) -> dict[str, set[str]]:
        """Every folded spelling that is known, with the properties it may mean."""
        labels: dict[str, set[str]] = defaultdict(set)
        for name, schema in shape.properties.items():
            own = schema.get("x-aliases") if isinstance(schema, Mapping) else None
            aliases = () if path else self._aliases.get(name, ())
            for label in (name, *aliases, *(own if isinstance(own, list) else ())):
                if isinstance(label, str):
                    labels[fold(label)].add(name)
        return labels

    def _unboxed(self, value: dict[str, Any], schema: Any, path: Path, depth: int) -> Fixed | None:
        """The scalar in {"value": ...}, or in an object that repeats the name of its parameter."""
        names = {"value", *(fold(name) for name in path[-1:] if isinstance(name, str))}
        if len(value) != 1 or fold(next(iter(value))) not in names:
            return None
        [inner] = value.values()
        branches = self._shapes.of(schema).branches or (schema,)
        takes_objects = any("object" in self._shapes.of(branch).types for branch in branches)
        if takes_objects or inner is None or isinstance(inner, (dict, list)):
            return None
        # Settled against the whole union, so that an inner value that fits is not read any further.
        after, more = self._settle(inner, schema, path, depth + 1)
        if isinstance(after, list) or not self._shapes.fits(after, schema, depth):
            return None
        return after, (Repair(_dotted(path), "wrapping removed", value, inner), *more)

    def _readings(self, value: Any, shape: Shape, path: Path, depth: int) -> Iterator[Fixed]:
        for after, kind in readings(value, shape):
            yield after, (Repair(_dotted(path), kind, value, after),)
        if shape.choices is not None:
            return
        parsed = parse_json(value) if isinstance(value, str) else None
        if parsed is not None and type_of(parsed) in shape.types:
            after, more = self._inside(parsed, shape, path, depth)
            yield after, (Repair(_dotted(path), "JSON text", value, parsed), *more)
        if "array" in shape.types and not isinstance(value, list):
            yield from self._listed(value, shape, path, depth)

    def _listed(self, value: Any, shape: Shape, path: Path, depth: int) -> Iterator[Fixed]:
        """One value as the list of it."""
        # In a list of lists, [1, 2] could be [[1, 2]] as well as [[1], [2]].
        if value is None or shape.prefix or (path and isinstance(path[-1], int)):
            return
        item, more = self._settle(value, shape.items, (*path, 0), depth + 1)
        if isinstance(value, str) and may_be_several(value) and not isinstance(item, dict):
            return
        if self._shapes.fits(item, shape.items, depth):
            yield [item], (Repair(_dotted(path), "one value as list", value, [value]), *more)


def _only(fixes: Iterable[Fixed]) -> Fixed | None:
    """The single reading, if there is one; equal results are one reading."""
    candidates = list(fixes)
    agree = all(same(candidates[0][0], value) for value, _ in candidates)
    return candidates[0] if candidates and agree else None


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))


def parse_json(text: str) -> Any:
    """The list or object that a text holds as strict JSON; None for any other text."""
    if len(text) > MAX_JSON or not text.lstrip().startswith(("[", "{")):
        return None
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_finite, parse_float=_finite)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()  # half of a surrogate pair is not text
    except (ValueError, RecursionError):
        return None
    return value if _shallow(value) else None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key is given twice")
    return members


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not JSON, or too large")
    return number


def _shallow(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_JSON_DEPTH):
        level = [
            inner
            for item in level
            if isinstance(item, (dict, list))
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return True
    return False
