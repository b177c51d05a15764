"""A principal that is kept in rows, for a run after a restart, comes back with all its bounds."""

from __future__ import annotations

from typing import Any

import pytest

from handrail import Principal
from handrail.core.define.call import BoundCall
from handrail.core.tell.events import ToolStarted
from handrail.store.codec import decode_call, encode_call
from handrail.store.events.rows import decode_event, encode_event

BOUNDED = (
    Principal("acme", scope=["data.*"], ceiling="read"),
    Principal("acme", scope=[]),
    Principal("acme", "ana", ["viewer"], ["a.b"], "bot", "desk", "service", ["above"], ["x"], "draft", True),
)


@pytest.mark.req("BY-10")
@pytest.mark.parametrize("who", BOUNDED)
def test_with_a_call_that_waits(who: Principal) -> None:
    call = BoundCall("data.get", who, "call_1")
    assert decode_call(encode_call(call)).principal == who


@pytest.mark.req("BY-10")
@pytest.mark.parametrize("who", BOUNDED)
def test_with_an_event(who: Principal) -> None:
    event = ToolStarted(BoundCall("data.get", who, "call_1", session="s"), "data.get", 1.0, "run_1", {}, ())
    row = encode_event(event)
    call_id, run_id, tool, user, agent, source, code = row.names
    columns: dict[str, Any] = {
        "tenant_id": who.tenant,
        "session_id": "s",
        "seq": 1,
        "position": 1,
        "hash": "",
        "type": "tool.started",
        "at": 1.0,
        "call_id": call_id,
        "run_id": run_id,
        "tool": tool,
        "user_id": user,
        "agent": agent,
        "source": source,
        "code": code,
        "payload": row.payload,
        "blob": None,
    }
    assert decode_event(columns).call.principal == who
