"""OpenAI: tools for chat completions and for responses, the calls of a model, and the answers to them.

Nothing of OpenAI's package is needed: messages may be its objects or plain data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from handrail import Call, Handrail, Outcome, Principal
from handrail.bridges.messages import (
    MessageCalls,
    data_url,
    field_of,
    is_viewable,
    model_text,
    parts_of,
    provider_id,
    read_arguments,
    run_calls,
)
from handrail.ext import Dedup


async def tools(hr: Handrail, principal: Principal | None = None) -> list[dict[str, Any]]:
    """What this principal may see, for chat completions, sorted by name."""
    found = []
    for exported in await hr.export("openai", principal):
        function = exported["function"]
        if fits_strict(function["parameters"]):
            function["strict"] = True
        found.append(exported)
    return sorted(found, key=lambda one: one["function"]["name"])


async def response_tools(hr: Handrail, principal: Principal | None = None) -> list[dict[str, Any]]:
    """The same for the responses API, where strict is what holds unless it is said otherwise."""
    chat = await tools(hr, principal)
    return [{"type": "function", "strict": False, **one["function"]} for one in chat]


def calls(
    message: Any,
    principal: Principal | None = None,
    *,
    session: str | None = None,
    turn: int | None = None,
    keyed: bool = False,
) -> list[Call]:
    """What a message asks for: a chat completion or its message, a response or the items of its output.

    With `keyed`, the ids of the provider are keys: the same message handled twice runs once. Some providers
    give the same ids again and again; leave it off for them.
    """
    asked = MessageCalls(principal, session, turn, keyed)
    items = _items(message)
    if items is not None:
        for item in items:
            if field_of(item, "type") == "function_call":
                asked.add(
                    field_of(item, "name"),
                    read_arguments(field_of(item, "arguments")),
                    field_of(item, "call_id") or field_of(item, "id"),
                )
        return asked.calls
    for sent in parts_of(_chat_message(message), "tool_calls"):
        function = field_of(sent, "function")
        if function is not None:
            args = read_arguments(field_of(function, "arguments"))
            asked.add(field_of(function, "name"), args, field_of(sent, "id"))
    return asked.calls


def tool_messages(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """The answers for a chat, in the order of the calls."""
    return [
        {"role": "tool", "tool_call_id": provider_id(one), "content": model_text(one, ())} for one in outcomes
    ]


def function_call_outputs(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """The answers for the responses API, pictures included, in the order of the calls."""
    return [
        {"type": "function_call_output", "call_id": provider_id(one), "output": _output(one)}
        for one in outcomes
    ]


async def run_tool_calls(
    hr: Handrail,
    message: Any,
    principal: Principal | None = None,
    *,
    session: str | None = None,
    turn: int | None = None,
    keyed: bool = False,
    dedup: Dedup | None = None,
) -> list[dict[str, Any]]:
    """Run what a message asks for as one pass through the guard: the answers to send, in its own format."""
    asked = calls(message, principal, session=session, turn=turn, keyed=keyed)
    outcomes = await run_calls(hr, asked, dedup)
    return tool_messages(outcomes) if _items(message) is None else function_call_outputs(outcomes)


def _chat_message(message: Any) -> Any:
    """The message of a whole completion, or what was given."""
    choices = parts_of(message, "choices")
    return field_of(choices[0], "message") if choices else message


def _items(message: Any) -> list[Any] | None:
    """The items of a response, of its output, or one alone; None when it is a chat's."""
    if isinstance(message, (list, tuple)):
        return list(message)
    if field_of(message, "type") == "function_call":
        return [message]
    return parts_of(message, "output") if isinstance(field_of(message, "output"), (list, tuple)) else None


def _output(outcome: Outcome) -> str | list[dict[str, Any]]:
    seen = [one for one in outcome.result.attachments if is_viewable(one)]
    text = model_text(outcome)
    if not seen:
        return text
    pictures = [{"type": "input_image", "detail": "auto", "image_url": data_url(one)} for one in seen]
    return [{"type": "input_text", "text": text}, *pictures]


_PLAIN = frozenset(
    "type description title enum const pattern format minimum maximum exclusiveMinimum exclusiveMaximum "
    "multipleOf minItems maxItems".split()
)
"""Keywords that strict mode takes and that hold no schema."""
_FORMATS = frozenset("date-time time date duration email hostname ipv4 ipv6 uuid".split())
_TYPES = frozenset("object array string number integer boolean null".split())
_DEPTH = 10
_PROPERTIES = 5_000
_CHOICES = 1_000


def fits_strict(schema: Mapping[str, Any]) -> bool:
    """Strict mode wants every property required and no other let in, all the way down, in few keywords.

    A schema that says more keeps its words and is sent without the promise: the guard checks it all the same.
    """
    if schema.get("type") != "object" or "anyOf" in schema:
        return False
    defs = schema.get("$defs", {})
    counts = _Counts()
    top = {key: value for key, value in schema.items() if key != "$defs"}
    return (
        isinstance(defs, Mapping)
        and _fits(top, defs, 1, counts)
        and all(_fits(one, defs, 1, counts) for one in defs.values())
    )


class _Counts:
    def __init__(self) -> None:
        self.properties = 0
        self.choices = 0

    def hold(self) -> bool:
        return self.properties <= _PROPERTIES and self.choices <= _CHOICES


def _fits(node: Any, defs: Mapping[str, Any], depth: int, counts: _Counts) -> bool:
    if not isinstance(node, Mapping) or depth > _DEPTH:
        return False
    if "$ref" in node:
        return len(node) == 1 and _is_known_ref(node["$ref"], defs)
    if "anyOf" in node:
        some = _as_list(node["anyOf"])
        beside = node.keys() <= {"anyOf", "description", "title"}
        return bool(some) and beside and all(_fits(one, defs, depth, counts) for one in some)
    kinds = node.get("type")
    named = [kinds] if isinstance(kinds, str) else _as_list(kinds)
    if not named or not all(isinstance(one, str) and one in _TYPES for one in named):
        return False
    counts.choices += len(_as_list(node.get("enum")))
    if not counts.hold() or str(node.get("format", "date")) not in _FORMATS:
        return False
    rest = node.keys() - _PLAIN
    if "object" in named:
        rest -= {"properties", "required", "additionalProperties"}
        if not _is_closed(node, defs, depth, counts):
            return False
    if "array" in named:
        rest -= {"items"}
        if not _fits(node.get("items"), defs, depth + 1, counts):
            return False
    return not rest


def _is_closed(node: Mapping[str, Any], defs: Mapping[str, Any], depth: int, counts: _Counts) -> bool:
    properties = node.get("properties")
    if not isinstance(properties, Mapping) or node.get("additionalProperties") is not False:
        return False
    counts.properties += len(properties)
    if sorted(map(str, _as_list(node.get("required")))) != sorted(properties):
        return False
    return all(_fits(one, defs, depth + 1, counts) for one in properties.values())


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_known_ref(ref: Any, defs: Mapping[str, Any]) -> bool:
    return ref == "#" or (isinstance(ref, str) and ref.removeprefix("#/$defs/") in defs)
