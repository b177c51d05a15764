"""A secret is masked in streamed output wherever the text is cut, and nothing else of the text is lost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handrail import Context, Handrail, Outcome, Principal, Tool, ToolError, define
from handrail.core.define.redaction import MASK, redact_settled_text, redact_values
from handrail.ext.events import Event, OutputAppended

ANA = Principal(tenant="acme", user="ana")

letters = st.text('ab"\\é•', max_size=4)
secrets = st.sets(st.text('ab"\\é•', min_size=1, max_size=6), min_size=1, max_size=3)


def cut(text: str, places: set[int]) -> list[str]:
    ends = sorted(place % (len(text) + 1) for place in places)
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


@st.composite
def streams(draw: Any) -> tuple[set[str], list[str]]:
    """Secrets, and the pieces of a text that has some of them in it."""
    known = draw(secrets)
    text = "".join(draw(st.lists(letters | st.sampled_from(sorted(known)), max_size=8)))
    return known, cut(text, draw(st.sets(st.integers(0, 60), max_size=6)))


@pytest.mark.req("BY-19")
@given(streams())
@example(({"abab"}, ["xab", "ab", "ab"]))
@example(({"abc", "bcd"}, ["ab", "c", "d"]))
@example(({"a"}, ["aa", "", "ba"]))
def test_the_pieces_together_are_the_masked_whole(given: tuple[set[str], list[str]]) -> None:
    known, pieces = given
    told, rest = "", ""
    for piece in pieces:
        part, rest = redact_settled_text(rest + piece, known)
        told += part
    assert told + redact_values(rest, known) == redact_values("".join(pieces), known)


@pytest.mark.req("BY-19")
def test_only_an_end_that_may_begin_a_secret_is_withheld() -> None:
    assert redact_settled_text("the token is t0", {"t0ken"}) == ("the token is ", "t0")
    assert redact_settled_text("the token is t0ke", {"t0ken"}) == ("the token is ", "t0ke")
    assert redact_settled_text("the token is t0ken", {"t0ken"}) == (f"the token is {MASK}", "")
    assert redact_settled_text("the token is t1", {"t0ken"}) == ("the token is t1", "")
    assert redact_settled_text("the token is t1", ()) == ("the token is t1", "")


@pytest.mark.req("BY-19")
def test_secrets_that_overlap_leave_nothing_of_either() -> None:
    assert redact_values("abcdefghi", {"abcdef", "defghi"}) == MASK
    assert redact_values("abcabc", {"abc"}) == MASK * 2


def streaming(known: set[str], pieces: list[str], end: Any = None, sync: bool = False) -> Tool:
    def say(ctx: Context) -> None:
        for name in known:
            ctx.secret(name)
        for piece in pieces:
            ctx.append_output(piece)

    async def here(args: Any, ctx: Context) -> Any:
        say(ctx)
        return await end(ctx) if end is not None else 1

    def aside(args: Any, ctx: Context) -> int:
        say(ctx)
        return 1

    return define("bank.say", {"description": "Say it.", "level": "read", "execute": aside if sync else here})


async def streamed(spoken: Tool, known: set[str], **options: Any) -> tuple[list[Event], Outcome]:
    hr: Handrail
    options["create_context"] = lambda *_: {"cancel": hr.cancel}
    async with Handrail([spoken], secrets={name: name for name in known}, **options) as hr:
        heard: list[Event] = []
        hr.subscribe(heard.append)
        outcome = await hr.call("bank.say", principal=ANA)
        stored = list(hr.log.read("acme"))
    assert chunks(heard) == chunks(stored)
    return stored, outcome


def chunks(events: list[Event]) -> list[str]:
    return [event.chunk for event in events if isinstance(event, OutputAppended)]


@pytest.mark.req("BY-19")
@given(streams(), st.booleans())
async def test_what_is_streamed_and_stored_is_the_masked_whole(
    given: tuple[set[str], list[str]], sync: bool
) -> None:
    known, pieces = given
    events, outcome = await streamed(streaming(known, pieces, sync=sync), known)
    assert "".join(chunks(events)) == redact_values("".join(pieces), known)
    assert (outcome.ok, events[-1].type) == (True, "tool.completed")


async def raises(ctx: Context) -> None:
    raise ToolError("enough")


async def cancels(ctx: Context) -> None:
    asyncio.get_running_loop().create_task(ctx.extra["cancel"](ctx.call_id))
    await asyncio.Event().wait()


async def waits(ctx: Context) -> None:
    await asyncio.Event().wait()


@pytest.mark.req("BY-19", "EV-03")
@pytest.mark.parametrize(
    ("end", "last"),
    [
        (raises, "tool.failed"),
        (cancels, "tool.cancelled"),
        (waits, "tool.failed"),
    ],
)
async def test_what_was_withheld_is_told_before_the_end_however_the_call_ends(end: Any, last: str) -> None:
    options = {"timeout": 0.01} if end is waits else {}
    events, _ = await streamed(streaming({"t0ken"}, ["a t0", "ken, a t0k"], end), {"t0ken"}, **options)
    assert (chunks(events), events[-1].type) == (["a ", f"{MASK}, a ", "t0k"], last)


@pytest.mark.req("BY-19")
async def test_without_secrets_every_piece_is_told_as_it_comes() -> None:
    events, _ = await streamed(streaming(set(), ["one ", "", "two"]), set())
    assert chunks(events) == ["one ", "", "two"]
