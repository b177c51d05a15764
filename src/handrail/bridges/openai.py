"""OpenAI: tools for chat completions and for responses, the calls of a model, and the answers to them.

Nothing of OpenAI's package is needed: messages may be its objects or plain data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Unpack

from handrail import Call, Handrail, Outcome, Principal
from handrail.bridges.messages import (
    MessageOptions,
    calls_from,
    data_url,
    field_of,
    model_text,
    parts_of,
    provider_id,
    read_arguments,
    run_calls,
    viewable_attachments,
)
from handrail.ext.tools import Dedup


async def tools(hr: Handrail, principal: Principal | None = None) -> list[dict[str, Any]]:
    """What this principal may see, for chat completions, sorted by name."""
    exported = list(await hr.export("openai", principal))
    for tool in exported:
        if fits_strict(tool["function"]["parameters"]):
            tool["function"]["strict"] = True
    return sorted(exported, key=lambda tool: str(tool["function"]["name"]))


async def response_tools(hr: Handrail, principal: Principal | None = None) -> list[dict[str, Any]]:
    """The same for the responses API, where strict is what holds unless it is said otherwise."""
    chat_tools = await tools(hr, principal)
    return [{"type": "function", "strict": False, **tool["function"]} for tool in chat_tools]


def calls(message: Any, principal: Principal | None = None, **options: Unpack[MessageOptions]) -> list[Call]:
    """What a message asks for: a chat completion or its message, a response or the items of its output."""
    items = _items(message)
    requests = _chat_requests(message) if items is None else _item_requests(items)
    return calls_from(requests, principal, **options)


def _item_requests(items: list[Any]) -> Iterator[tuple[Any, Any, Any]]:
    for item in items:
        if field_of(item, "type") == "function_call":
            args = read_arguments(field_of(item, "arguments"))
            yield field_of(item, "name"), args, field_of(item, "call_id") or field_of(item, "id")


def _chat_requests(message: Any) -> Iterator[tuple[Any, Any, Any]]:
    for tool_call in parts_of(_chat_message(message), "tool_calls"):
        if (function := field_of(tool_call, "function")) is not None:
            args = read_arguments(field_of(function, "arguments"))
            yield field_of(function, "name"), args, field_of(tool_call, "id")


def tool_messages(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """The answers for a chat, in the order of the calls."""
    return [
        {"role": "tool", "tool_call_id": provider_id(outcome), "content": model_text(outcome, ())}
        for outcome in outcomes
    ]


def function_call_outputs(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """The answers for the responses API, pictures included, in the order of the calls."""
    return [
        {"type": "function_call_output", "call_id": provider_id(outcome), "output": _output(outcome)}
        for outcome in outcomes
    ]


async def run_tool_calls(
    hr: Handrail,
    message: Any,
    principal: Principal | None = None,
    *,
    dedup: Dedup | None = None,
    **options: Unpack[MessageOptions],
) -> list[dict[str, Any]]:
    """Run what a message asks for as one pass through the guard: the answers to send, in its own format."""
    outcomes = await run_calls(hr, calls(message, principal, **options), dedup)
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
    text = model_text(outcome)
    pictures = [
        {"type": "input_image", "detail": "auto", "image_url": data_url(picture)}
        for picture in viewable_attachments(outcome)
    ]
    return [{"type": "input_text", "text": text}, *pictures] if pictures else text


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
    defs = schema.get("$defs", {})
    if schema.get("type") != "object" or "anyOf" in schema or not isinstance(defs, Mapping):
        return False
    top = {key: value for key, value in schema.items() if key != "$defs"}
    check = _StrictCheck(defs)
    return all(check.fits(node, 1) for node in (top, *defs.values()))


class _StrictCheck:
    """One walk over a schema, which counts what strict mode bounds for the whole of it."""

    def __init__(self, defs: Mapping[str, Any]) -> None:
        self._defs = defs
        self._properties = 0
        self._choices = 0

    def fits(self, node: Any, depth: int) -> bool:
        if not isinstance(node, Mapping) or depth > _DEPTH:
            return False
        if "$ref" in node:
            return len(node) == 1 and self._is_known(node["$ref"])
        if "anyOf" in node:
            branches = _as_list(node["anyOf"])
            is_alone = node.keys() <= {"anyOf", "description", "title"}
            return bool(branches) and is_alone and all(self.fits(branch, depth) for branch in branches)
        types = [node["type"]] if isinstance(node.get("type"), str) else _as_list(node.get("type"))
        if not types or not all(isinstance(name, str) and name in _TYPES for name in types):
            return False
        self._choices += len(_as_list(node.get("enum")))
        if self._choices > _CHOICES or str(node.get("format", "date")) not in _FORMATS:
            return False
        rest = node.keys() - _PLAIN
        if "object" in types:
            rest -= {"properties", "required", "additionalProperties"}
            if not self._is_closed(node, depth):
                return False
        if "array" in types:
            rest -= {"items"}
            if not self.fits(node.get("items"), depth + 1):
                return False
        return not rest

    def _is_closed(self, node: Mapping[str, Any], depth: int) -> bool:
        properties = node.get("properties")
        if not isinstance(properties, Mapping) or node.get("additionalProperties") is not False:
            return False
        self._properties += len(properties)
        required = sorted(map(str, _as_list(node.get("required"))))
        if self._properties > _PROPERTIES or required != sorted(properties):
            return False
        return all(self.fits(part, depth + 1) for part in properties.values())

    def _is_known(self, ref: Any) -> bool:
        return ref == "#" or (isinstance(ref, str) and ref.removeprefix("#/$defs/") in self._defs)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
