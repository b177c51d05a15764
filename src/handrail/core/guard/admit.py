"""admit: arguments in, validated values out; repaired where that loses nothing, refused where it would."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from handrail.core.define.call import FieldError, Repair
from handrail.core.define.json_values import NotJson, copy_object
from handrail.core.define.tool import Tool
from handrail.core.define.validation import InvalidValue
from handrail.core.guard.repair import repair

MAX_TEXT = 10_000_000


class Admitted:
    """Arguments that fit the tool's schema."""

    __slots__ = ("args", "repairs", "values")

    def __init__(self, args: dict[str, Any], values: Any, repairs: tuple[Repair, ...] = ()) -> None:
        self.args = args
        """As JSON data, repairs included: what logs and approvals show."""
        self.values = values
        """As the body receives them: typed, defaults filled."""
        self.repairs = repairs


def admit(
    tool: Tool, raw: Mapping[str, Any] | str | None, asked_as: str | None = None, repairing: bool = True
) -> Admitted | tuple[FieldError, ...]:
    """Validate first: what is valid is never changed. Only then repair, and validate what came of it."""
    validate = tool.validate
    read: tuple[Repair, ...] = ()
    try:
        if raw.__class__ is dict:
            args = copy_object(raw)
        else:
            args, read = _read(raw, repairing)
    except NotJson as error:
        return (FieldError(error.path, error.reason),)
    if asked_as is not None and asked_as != tool.id and asked_as in tool.aliases:
        args, renamed = _renamed(args, tool.aliases[asked_as])
        read = (*read, *renamed)
    try:
        return Admitted(args, validate(args), read)
    except InvalidValue as error:
        if not repairing:
            return error.errors
        first = error.errors
    repaired, repairs = repair(args, tool.input_schema, tool.param_aliases)
    if not repairs:
        return first
    try:
        return Admitted(repaired, validate(repaired), (*read, *repairs))
    except InvalidValue as error:
        return error.errors


def _read(raw: Mapping[str, Any] | str | None, repairing: bool) -> tuple[dict[str, Any], tuple[Repair, ...]]:
    if raw is None:
        return {}, ()
    if isinstance(raw, Mapping):
        return copy_object(raw), ()
    if isinstance(raw, str) and repairing:
        if len(raw) > MAX_TEXT:
            raise NotJson("", f"the arguments are longer than {MAX_TEXT} characters; send less")
        try:
            parsed = json.loads(raw) if raw.strip() else {}
        except (ValueError, RecursionError):
            raise NotJson("", "the arguments are text that is not JSON; send one JSON object") from None
        if isinstance(parsed, dict):
            read = copy_object(parsed)
            return read, (Repair("", "JSON text to object", raw, read),)
    kind = "list" if isinstance(raw, list) else type(raw).__name__
    raise NotJson("", f"the arguments are a {kind}; send one JSON object with named parameters")


def _renamed(args: dict[str, Any], names: Mapping[str, str]) -> tuple[dict[str, Any], tuple[Repair, ...]]:
    """Arguments under the names an alias gives them."""
    renamed: dict[str, Any] = {}
    repairs: list[Repair] = []
    for name, value in args.items():
        target = names.get(name, name)
        if target != name and target not in args:
            repairs.append(Repair(name, "name of this alias", name, target))
            renamed[target] = value
        else:
            renamed[name] = value
    return renamed, tuple(repairs)
