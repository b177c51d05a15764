"""What is kept of a call reads back as it was, whatever there is to it."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Attachment, Decision, Principal, Result
from handrail.core.define.call import BoundCall, Repair
from handrail.core.define.decision import Step
from handrail.store import codec

pytestmark = pytest.mark.req("AP-04", "AP-08")
names = st.text(st.characters(codec="utf-8"), max_size=5)
some = st.none() | names
principals = st.builds(
    Principal,
    tenant=names.filter(bool),
    user=some,
    roles=st.frozensets(names),
    permissions=st.frozensets(names),
    agent=some,
    workspace=some,
    key=st.sampled_from(["agent", "person", "service"]),
    ancestors=st.lists(names).map(tuple),
    scope=st.none() | st.frozensets(names),
    ceiling=st.sampled_from([None, "read", "write"]),
    embed=st.booleans(),
    key_id=some,
)


def test_every_field_of_a_principal_is_drawn() -> None:
    drawn = {"tenant", "user", "roles", "permissions", "agent", "workspace", "key", "ancestors"}
    drawn |= {"scope", "ceiling", "embed", "key_id"}
    assert {one.name for one in fields(Principal) if one.init} == drawn, "draw the new field as well"


@given(
    st.builds(
        BoundCall,
        tool=names,
        principal=principals,
        source=st.sampled_from(["agent", "mcp", "web"]),
        session=some,
        id=names,
        turn=st.none() | st.integers(0, 9),
        idempotency_key=some,
        digest=some,
        message=some,
        parent=some,
        depth=st.integers(0, 9),
    )
)
def test_a_call_loses_nothing_but_its_arguments(call: BoundCall) -> None:
    assert codec.decode_call(json.loads(json.dumps(codec.encode_call(call)))) == call


def test_a_decision_a_repair_and_a_result_lose_nothing() -> None:
    steps = (
        Step("rules", "ask", "why", "r1", "NEEDS_APPROVAL", "caller", True),
        Step("level", "allow", "fine"),
    )
    decision = Decision("ask", "rules", "r1", "NEEDS_APPROVAL", "why", "caller", steps)
    assert codec.decode_decision(json.loads(json.dumps(codec.encode_decision(decision)))) == decision
    repairs = (Repair("a.0", "number", "1", 1),)
    assert codec.decode_repairs(json.loads(json.dumps(codec.encode_repairs(repairs)))) == repairs
    files = (Attachment("image/png", "a.png", b"\x00\xff"), Attachment("x/y", "b", ref="blob:1"))
    result = Result(False, {"a": [1]}, "s", "m", "e", "C", "t", {"k": 1}, "o", files)
    assert codec.decode_result(json.loads(json.dumps(codec.encode_result(result)))) == result


@pytest.mark.parametrize("text", ["[1]", "null", "1", "{"])
def test_a_document_that_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        codec.load_document(text)
    assert codec.load_document(None) is None and codec.dump_document(None) is None
    assert codec.load_document(codec.dump_document({"b": [1], "a": None})) == {"b": [1], "a": None}
