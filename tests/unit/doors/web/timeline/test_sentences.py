"""What each type of event says, in the words of whoever reads."""

from __future__ import annotations

import pytest

from handrail.core.define.call import Repair
from handrail.core.define.principal import Principal
from handrail.core.define.result import Attachment, Result
from handrail.core.tell.events import Event
from handrail.doors.web.timeline.entries import EntryFile
from handrail.doors.web.timeline.sentences import build_timeline, users_in
from handrail.doors.web.timeline.texts import DisplayNames
from tests.unit.doors.web.timeline.events import (
    OPS,
    TOOL,
    approved,
    asked,
    call,
    cancelled,
    chunk,
    completed,
    failed,
    numbered,
    progress,
    retrying,
    settled,
    started,
)

BEN = DisplayNames("user_ben", {"user_ana": "Ana", "user_ben": "Ben"})


def said(*events: Event, display_names: DisplayNames = BEN) -> list[str]:
    return [line.sentence for line in build_timeline(numbered(*events), display_names)]


def after_start(event: Event, display_names: DisplayNames = BEN) -> list[str]:
    return said(started(), event, display_names=display_names)[1:]


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (started(), ["Ana called data.updateRecord on the web page"]),
        (
            started(call(who=OPS, source="mcp")),
            ["Agent “ops” for Ana called data.updateRecord through MCP"],
        ),
        (started(call(who=Principal("acme"), source="api")), ["A key called data.updateRecord through REST"]),
        (started(call(parent="call_0", depth=1)), ["It called data.updateRecord"]),
        (
            started(call(parent="call_0")),
            ["Ana called data.updateRecord on the web page, to make an earlier call again"],
        ),
        (
            asked("Needs approval: write-level calls from agents are asked for in strict mode"),
            [
                "Ana called data.updateRecord on the web page",
                "A person was asked to approve: write-level calls from agents are asked for in strict mode",
            ],
        ),
        (
            failed("There is no tool 'x'. List the tools.", "TOOL_NOT_FOUND", layer="find"),
            [
                "Ana called data.updateRecord on the web page",
                "There was no such tool: There is no tool 'x'. List the tools",
            ],
        ),
    ],
)
def test_a_call_begins_with_who_called_what_and_through_what(event: Event, words: list[str]) -> None:
    assert said(event) == words


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (completed(), ["Ran in 84 ms"]),
        (
            completed(Result(True, None, "Acme Corp was active and is inactive")),
            ["Ran in 84 ms", "Acme Corp was active and is inactive"],
        ),
        (
            completed(Result(True, 1, metadata={"answered_by": "user_ana"}), run=None),
            ["Ana answered in the tool's place"],
        ),
        (
            completed(Result(True, 1, metadata={"cached": True})),
            ["The answer of an earlier run was still good"],
        ),
        (failed("no such record"), ["Failed after 84 ms: no such record"]),
        (failed("It took too long.", "TIMEOUT"), ["Stopped after 84 ms: it took too long"]),
        (
            failed("The process died.", "UNKNOWN_OUTCOME"),
            ["Nobody knows whether it took effect. A person must look: The process died"],
        ),
        (
            failed("id: must be text", "INVALID_PARAM", layer="validate"),
            ["The arguments did not fit: id: must be text"],
        ),
        (failed("no", "MY_RULE", layer="rules"), ["It did not run: no"]),
        (
            failed("nobody came", "APPROVAL_EXPIRED", layer="approval"),
            ["Nobody answered in time: nobody came"],
        ),
        (cancelled("Cancelled: user_ana cancelled it."), ["Ana cancelled it after 2.5 s"]),
        (cancelled("Cancelled: the server stopped.", run=None), ["Cancelled: the server stopped"]),
        (
            cancelled("A person rejected data.x: wrong record", "REJECTED"),
            ["A person rejected it: wrong record"],
        ),
        (cancelled("A person rejected data.x.", "REJECTED"), ["A person rejected it"]),
        (approved("user_ana"), ["Ana approved"]),
        (approved("user_ben"), ["You approved"]),
        (approved(None), ["Somebody approved"]),
        (approved("user_ana", True, id=1), ["Ana changed the arguments and approved"]),
        (started(), ["data.updateRecord started"]),
        (progress(title="Reading 3 of 9"), ["Reading 3 of 9"]),
        (progress(done=3), ["Working"]),
        (retrying("the service did not answer."), ["Attempt 1 failed: the service did not answer"]),
        (settled("queued"), ["It was put on the plan; nothing ran"]),
        (settled("duplicate"), ["The same call had run before; its answer was given again"]),
        (chunk("hello"), ["Wrote 5 characters of output"]),
    ],
)
def test_every_event_has_a_sentence(event: Event, words: list[str]) -> None:
    assert after_start(event) == words


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            {"id": "rec-001", "status": "archived"},
            {"id": "rec-001", "status": "inactive"},
            'Ana changed status from "archived" to "inactive" and approved',
        ),
        ({"a": 1}, {"a": 1, "b": True}, "Ana set b to yes and approved"),
        ({"a": 1, "b": 2}, {"a": 1}, "Ana took b out and approved"),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, "Ana changed a.b.1 from 2 to 3 and approved"),
        ({"a": 1, "b": 1, "c": 1}, {"a": 2, "b": 2, "c": 2}, "Ana changed 3 arguments and approved"),
        ({"a": 1}, {"a": 1}, "Ana looked at the arguments, left them as they were and approved"),
        ({"a": True}, {"a": 1}, "Ana changed a from yes to 1 and approved"),
        (
            {"a": "x" * 500},
            {"a": "y" * 500},
            "Ana changed a to another one, a text of 500 characters and approved",
        ),
    ],
)
def test_an_edit_says_what_it_changed(
    before: dict[str, object], after: dict[str, object], words: str
) -> None:
    question = asked()
    object.__setattr__(question, "input", before)
    answer = approved("user_ana", True)
    object.__setattr__(answer, "input", after)
    assert said(question, answer)[-1] == words


def test_whoever_rejected_is_named_where_the_reader_may_know() -> None:
    display_names = DisplayNames("user_ben", {"user_ana": "Ana"}, {"approval_1": "user_ana"})
    assert said(asked(), cancelled("A person rejected data.x: no", "REJECTED"), display_names=display_names)[
        -1
    ] == ("Ana rejected it: no")


@pytest.mark.parametrize(
    ("repair", "words"),
    [
        (Repair("limit", "number", "5", 5), 'Took "5" as the number 5 for limit'),
        (Repair("ids", "one value as list", "a", ["a"]), 'Took "a" as the list ["a"] for ids'),
        (Repair("", "parameter name", "Region", "region"), 'Took the name "Region" as "region"'),
        (Repair("region", "null left out", None, None), "Left out region, which was empty"),
        (Repair("", "wrapping removed", {"args": {}}, {}), "Took an object with 1 entry as {}"),
    ],
)
def test_a_repair_says_what_was_taken_as_what(repair: Repair, words: str) -> None:
    [line] = build_timeline(numbered(started(repairs=(repair,))), BEN)
    assert line.more == (words,)


def test_attempts_are_told_with_why_each_failed() -> None:
    result = Result(True, 1, metadata={"attempts": 3, "earlier_errors": ["timed out.", "reset"]})
    line = build_timeline(numbered(started(), completed(result)), BEN)[1]
    assert line.more == ("It took 3 attempts", "Attempt 1 failed: timed out", "Attempt 2 failed: reset")


def test_a_tool_cannot_say_that_a_person_answered() -> None:
    forged = completed(Result(True, 1, metadata={"answered_by": "user_ana"}))
    assert after_start(forged) == ["Ran in 84 ms"]


def test_files_are_numbered_as_the_result_has_them() -> None:
    files = (Attachment("text/csv", "a.csv", b"1"), Attachment("image/png", "b.png", b"2"))
    line = build_timeline(numbered(started(), completed(Result(True, None, attachments=files))), BEN)[-1]
    assert line.sentence == "2 files"
    assert line.files == (EntryFile(0, "a.csv", "text/csv"), EntryFile(1, "b.png", "image/png"))


def test_pieces_of_output_share_a_line_until_something_else_happens() -> None:
    other = call("call_2")
    lines = build_timeline(numbered(started(), chunk("a"), chunk("b"), chunk("c", other), completed()), BEN)
    assert [(line.sentence, line.events) for line in lines[1:3]] == [
        ("Wrote 2 characters of output", 2),
        ("Wrote 1 character of output", 1),
    ]
    assert lines[1].folds[0].text == "ab"


def test_a_long_or_hidden_text_is_shown_as_what_it_is() -> None:
    [_, line] = build_timeline(numbered(started(), failed("x" * 100_000 + "\u202e")), BEN)
    assert "(100\u202f001 characters in all)" in line.sentence
    assert line.folds[0].text == "x" * 100_000 + "\u202e"
    [_, line] = build_timeline(numbered(started(), failed("pay \u202eevil\x1b[2J")), BEN)
    assert line.sentence == "Failed after 84 ms: pay \\u202eevil\\x1b[2J"


def test_the_people_of_a_story_are_known_before_it_is_told() -> None:
    events = [started(call(who=OPS)), approved("user_cy"), cancelled("Cancelled: user_dan cancelled it.")]
    assert users_in(events) == {"user_ana", "user_cy", "user_dan"}


def test_a_name_with_markup_stays_a_name() -> None:
    display_names = DisplayNames(None, {"user_ana": "<b>Ana</b>"})
    assert said(started(), display_names=display_names) == [f"<b>Ana</b> called {TOOL} on the web page"]
