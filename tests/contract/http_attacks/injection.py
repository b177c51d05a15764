"""A text or a number in every place of a request to REST, one after the other."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

import httpx

from tests.contract.http_attacks.attacked_server import AttackedServer, inside
from tests.contract.http_attacks.routes import RouteMethod, asked, ways

WHOLE: dict[str, Any] = {
    "approve": {"arguments": {"text": "x"}, "standing": False},
    "call_tool": {"arguments": {"text": "x"}, "session": "s", "digest": "d"},
    "explain_call": {"arguments": {"text": "x"}, "session": "s", "digest": "d"},
    "stream_call": {"arguments": {"text": "x"}, "session": "s", "digest": "d"},
    "override_tool": {"name": "n", "description": "d", "category": "c", "icon": "i"},
    "reject": {"reason": "r"},
    "respond": {"data": {"a": "x"}, "output": "o"},
    "save_role": {"permissions": ["runs.read"]},
    "make_key": {"name": "n", "user": "u", "agent": "a", "permissions": ["runs.read"], "tools": ["echo.*"]},
    "begin_tool_session": {"tool": "echo.share", "title": "t", "entity_ids": ["e"], "config": {"a": "x"}},
    "submit_to_session": {"arguments": {"text": "x"}},
    "share_tool_session": {"lifetime": 600.0},
    "publish_embed": {"title": "t", "tools": ["echo.say"], "origins": ["https://a.example"]},
    "change_embed": {"title": "t", "origins": ["https://a.example"]},
    "add_member": {"email": "a@example.com", "roles": ["viewer"], "name": "n"},
}
"""A body that fits for every route that takes one, with all of its texts."""


def taking_bodies(attacked: AttackedServer) -> Iterator[tuple[RouteMethod, dict[str, str]]]:
    """The ways that take a body, each with an id that is there."""
    for way in ways(attacked):
        if "requestBody" in (way.route.openapi_extra or {}):
            assert way.route.operation_id in WHOLE, f"{way.name}: say in WHOLE what it takes"
            known = {**attacked.here.ids, "slug": ["echo.say"]}
            yield way, {at: known[at][0] for at in way.places}


def refused(answer: httpx.Response, sent: str, *status: int) -> None:
    told = (answer.status_code, answer.text)
    assert answer.status_code in status if status else answer.status_code < 500, told
    assert inside(answer, sent) is None, told
    if answer.status_code >= 400:
        assert set(answer.json()["error"]) <= {"code", "message", "fields", "hint"}


def texts_of(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, str):
        yield at
    elif isinstance(value, (dict, list)):
        for step in value if isinstance(value, dict) else range(len(value)):
            yield from texts_of(value[step], (*at, step))


def with_at(body: Any, at: tuple[Any, ...], value: Any) -> Any:
    changed = copy.deepcopy(body)
    inner = changed
    for step in at[:-1]:
        inner = inner[step]
    inner[at[-1]] = value
    return changed


def texts_in_bodies(attacked: AttackedServer, client: httpx.Client, texts: Iterable[str]) -> None:
    """Any text in any place of a body is taken or refused."""
    for way, given in taking_bodies(attacked):
        whole = WHOLE[way.route.operation_id or ""]
        if "digest" in whole:
            whole = {name: part for name, part in whole.items() if name != "digest"}
        for at in texts_of(whole):
            for text in texts:
                sent = json.dumps(with_at(whole, at, text))
                answer = asked(
                    client,
                    way.method,
                    way.path(given),
                    content=sent.encode(),
                    headers={"content-type": "application/json"},
                )
                refused(answer, f"{sent} {text}")


def texts_in_addresses(attacked: AttackedServer, client: httpx.Client, texts: Iterable[str]) -> None:
    """Any text in a path or a query is taken or refused."""
    for way in ways(attacked):
        named = {one.alias for one in way.route.dependant.query_params}
        for text in texts:
            written = quote(text, safe="")
            if way.places and text:
                refused(way.go(client, dict.fromkeys(way.places, written)), f"{text} {written}")
            for name in sorted(named):
                refused(way.go(client, dict.fromkeys(way.places, "x"), params={name: text}), text)


def odd_headers(client: httpx.Client) -> None:
    """Any bytes in a header are taken or refused."""
    for name in ("idempotency-key", "prefer", "last-event-id", "x-request-id", "accept", "cookie"):
        for value in (b"", b"\xff", b"a" * 300, b"respond-async", b"-1", b"1" * 30, b"\x80\x81", b'a"b'):
            for path in ("/api/tools/echo.say/call", "/api/tools/echo.say/stream"):
                headers = [(name.encode(), value)]
                refused(asked(client, "POST", path, headers=headers), value.decode("latin-1"))
            refused(asked(client, "GET", "/api/events", headers=[(name.encode(), value)]), "")
