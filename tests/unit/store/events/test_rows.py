"""Rows: an event read back is the event that was told, as far as JSON can say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from handrail import Attachment, Principal, Result
from handrail.core.define.call import BoundCall, Repair
from handrail.ext.events import Event, ToolCompleted, ToolFailed, ToolStarted
from handrail.store.codec import MAX_COLUMN_TEXT
from handrail.store.events.rows import (
    BLOB_THRESHOLD,
    COLUMNS,
    chain_hash,
    decode_event,
    encode_event,
    hash_input,
)
from tests.unit.store.events.sample_events import completed, events, started


def as_row(event: Event, seq: int = 1, position: int = 1) -> dict[str, Any]:
    row = encode_event(event)
    place = (row.tenant, row.session, seq, position, row.type, event.at, None)
    return dict(zip(COLUMNS, (*place, *row.names, "hash", row.blob, row.payload), strict=True))


@pytest.mark.req("EV-02", "EV-03", "EV-04", "EV-05", "EV-06", "EV-07", "EV-08", "BY-13")
@given(events())
def test_an_event_comes_back_as_it_was_told(event: Event) -> None:
    back = decode_event(as_row(event))
    assert (back.seq, back.position) == (1, 1)
    object.__setattr__(event, "seq", 1)
    object.__setattr__(event, "position", 1)
    assert back == event
    assert back.to_dict() == event.to_dict()


@pytest.mark.req("BY-13")
@given(events())
def test_every_column_holds_text_that_both_databases_take(event: Event) -> None:
    row = as_row(event)
    for name, value in row.items():
        if isinstance(value, str):
            assert "\x00" not in value
            value.encode()
            assert len(value) <= MAX_COLUMN_TEXT or name == "payload"


@pytest.mark.req("BY-13")
@given(events(), events())
def test_events_that_differ_say_something_different(one: Event, other: Event) -> None:
    first, second = encode_event(one), encode_event(other)
    alike = (first.tenant, first.session, first.content) == (second.tenant, second.session, second.content)
    assert alike == (as_row(one) == as_row(other))


@pytest.mark.req("BY-13")
def test_each_part_of_a_row_is_in_its_hash() -> None:
    row = encode_event(started())
    base = chain_hash("p", "t", "s", 1, 2, 3.0, row.content)
    changed = [
        chain_hash("q", "t", "s", 1, 2, 3.0, row.content),
        chain_hash("p", "u", "s", 1, 2, 3.0, row.content),
        chain_hash("p", "t", "r", 1, 2, 3.0, row.content),
        chain_hash("p", "t", "s", 2, 2, 3.0, row.content),
        chain_hash("p", "t", "s", 1, 3, 3.0, row.content),
        chain_hash("p", "t", "s", 1, 2, None, row.content),
        chain_hash("p", "t", "s", 1, 2, 3.0, row.content + " "),
    ]
    assert len({base, *changed}) == 1 + len(changed)
    names = list(row.names)
    for at in range(len(names)):
        other = [*names[:at], "else", *names[at + 1 :]]
        assert hash_input(row.type, 1.0, tuple(other), None, row.payload) != row.content
        if names[at] is not None:
            emptied = [*names[:at], None, *names[at + 1 :]]
            assert hash_input(row.type, 1.0, tuple(emptied), None, row.payload) != row.content


def test_what_a_body_changes_afterwards_does_not_reach_the_record() -> None:
    args = {"to": ["ana"]}
    event = replace(started(), input=args)
    row = encode_event(event)
    args["to"].append("eve")
    assert '["ana"]' in row.payload and "eve" not in row.payload


def test_a_large_payload_is_named_by_its_hash() -> None:
    small, large = (
        encode_event(completed(started(), value="x" * 100)),
        encode_event(completed(started(), value="x" * BLOB_THRESHOLD)),
    )
    assert small.blob is None and large.blob is not None
    assert large.blob in large.content and "xxx" not in large.content


def test_bytes_of_an_attachment_are_told_by_reference() -> None:
    picture = Attachment("image/png", "a.png", data=b"\x89PNG")
    event = ToolCompleted(started().call, "t", 1.0, "run_1", Result(data=1, attachments=(picture,)), 1.0)
    back = decode_event(as_row(event))
    assert isinstance(back, ToolCompleted)
    [held] = back.result.attachments
    assert held.data is None and held.ref == picture.to_log()["ref"]


def test_a_result_comes_back_from_its_own_words() -> None:
    result = Result(
        False, {"a": 1}, "s", "m", "e", "C", "t", {"k": 1}, "o", (Attachment("a/b", "n", ref="r"),)
    )
    assert Result.from_dict(result.to_dict()) == result
    assert Result.from_dict(Result(data=1).to_dict()) == Result(data=1)


def test_an_event_of_nobody_is_not_kept() -> None:
    nobody: Any = None
    with pytest.raises(AttributeError):
        encode_event(ToolStarted(BoundCall("t", nobody, "c1"), "t", 1.0, "run_1", {}))
    with pytest.raises(ValueError, match="no tenant's slug"):
        encode_event(ToolStarted(BoundCall("t", Principal("a\x00b"), "c1"), "t", 1.0, "run_1", {}))


def test_a_source_and_a_tool_that_are_no_text_are_told_all_the_same() -> None:
    wrong: Any = 5
    call = BoundCall(wrong, Principal("acme"), "c1", source=wrong, session="s1")
    back = decode_event(as_row(ToolFailed(call, wrong, 1.0, None, Result.fail("no"), 1.0)))
    assert back.call == call and back.tool == wrong


def test_repairs_keep_what_was_there_before() -> None:
    event = replace(started(), repairs=(Repair("a.0", "number", "1", 1),))
    back = decode_event(as_row(event))
    assert isinstance(back, ToolStarted) and back.repairs == event.repairs


def test_what_a_later_version_adds_to_a_payload_is_left_out() -> None:
    event = completed(started(), value=1)
    row = as_row(event)
    row["payload"] = row["payload"].replace('{"result"', '{"mood":"good","result"', 1)
    assert "mood" in row["payload"]
    assert decode_event(row).to_dict() == decode_event(as_row(event)).to_dict()
