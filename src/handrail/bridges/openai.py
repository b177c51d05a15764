"""OpenAI: tools for chat completions and for responses, the calls of a model, and the answers to them.

Nothing of OpenAI's package is needed: messages may be its objects or plain data.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from handrail import Call, Handrail, Outcome, Principal
from handrail.bridges.asked import Asked, field_of, parts_of, provider_id, read_arguments, run_all
from handrail.bridges.attached import data_url, is_shown, text_of
from handrail.bridges.strict import fits_strict
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
    asked = Asked(principal, session, turn, keyed)
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
        {"role": "tool", "tool_call_id": provider_id(one), "content": text_of(one, ())} for one in outcomes
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
    outcomes = await run_all(hr, asked, dedup)
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
    seen = [one for one in outcome.result.attachments if is_shown(one)]
    text = text_of(outcome)
    if not seen:
        return text
    pictures = [{"type": "input_image", "detail": "auto", "image_url": data_url(one)} for one in seen]
    return [{"type": "input_text", "text": text}, *pictures]
