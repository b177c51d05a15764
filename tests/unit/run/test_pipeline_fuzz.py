"""Nothing raises out of `call`: whatever it is given, there is an outcome, and the events fit it."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from handrail import Context, Handrail, Outcome, Policy, Result, Rule, tool
from handrail.core.define.levels import SOURCES
from handrail.core.tell.events import Event
from handrail.core.tell.log import open_runs

EVENTS: dict[str, list[list[str]]] = {
    "completed": [["started", "completed"], ["needs_approval", "approved", "started", "completed"]],
    "failed": [["started", "failed"], ["needs_approval", "approved", "started", "failed"]],
    "refused": [["failed"], ["needs_approval", "failed"], ["needs_approval", "cancelled"]],
    "pending": [["needs_approval"]],
    "queued": [[]],
    "duplicate": [[]],
    "cancelled": [["started", "cancelled"], ["cancelled"], ["needs_approval", "cancelled"]],
    "needs_review": [["failed"], ["started", "failed"]],
}
"""By status, what the table of outcomes allows to be recorded of one call."""
SUCCESSES = {"completed": None, "queued": "PLANNED", "duplicate": "DUPLICATE"}


def consistent(out: Outcome, events: list[Event], again: bool = False) -> None:
    """Check an outcome against the events of its call; a call made again under its key may tell nothing."""
    assert isinstance(out, Outcome) and isinstance(out.result, Result)
    kinds = [event.kind for event in events if event.kind not in ("progress", "chunk")]
    assert kinds in EVENTS[out.status] or (again and kinds == []), (out.status, kinds)
    assert (out.run_id is not None) == ("started" in kinds) or (again and kinds == [])
    if out.result.success:
        assert out.code == SUCCESSES[out.status]
    else:
        assert out.status not in ("completed", "queued")
        assert out.code and out.result.error and out.to_model() and out.result.to_ui()
    for event in events:
        assert event.call_id == out.call_id and event.tool == out.tool
        if event.kind in ("completed", "failed"):
            assert event.payload()["result"] == out.result.to_dict()
            assert event.payload()["run_id"] == out.run_id
        event.to_dict()
    numbers = [event.seq for event in events]
    assert all(numbers) and numbers == list(range(numbers[0], numbers[0] + len(numbers)) if numbers else [])


class Point(BaseModel):
    x: int
    y: float = 0.0


@tool("plain.read", level="read", aliases=["plain"])
async def plain(text: str = "", number: int = 0, flag: bool | None = None) -> dict[str, Any]:
    """Take plain arguments."""
    return {"text": text, "number": number, "flag": flag}


@tool("deep.read", level="read")
async def deep(points: list[Point], names: dict[str, list[str]] | None = None, *, ctx: Context) -> str:
    """Take nested arguments."""
    ctx.append_output("one")
    return repr(points)


@tool("any.read", level="read", input={"type": "object"})
def anything(args: Any) -> Any:
    """Take anything, and give it back."""
    return dict(args)


@tool("desk.write", level="write", writes=lambda args: [args.place])
async def write(place: str = "left") -> str:
    """Write somewhere."""
    return place


@tool("desk.tear", level="destructive")
async def tear() -> None:
    """Tear everything up."""
    raise ValueError("cannot tear")


TOOLS = [plain, deep, anything, write, tear]
NAMES = [name for one in TOOLS for name in one.names]
POLICIES = [
    Policy(),
    Policy(approval_mode="policy"),
    Policy(approval_mode="policy", plan=True),
    Policy(deny=["desk.*"], rules=[Rule(tool="plain.*", when={"text": "x"}, verdict="ask")]),
]


class Hostile:
    """Refuses to be asked for one of its attributes."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __getattribute__(self, name: str) -> Any:
        if name == object.__getattribute__(self, "_what"):
            raise LookupError("not for you")
        return object.__getattribute__(self, name)


class HostileDict(dict):
    """A mapping that cannot be read."""

    def __iter__(self) -> Any:
        raise LookupError("not for you")

    keys = items = values = __len__ = __getitem__ = get = __iter__  # type: ignore[assignment]


class HostileText(str):
    """A text that is not to be compared, measured or encoded."""

    __slots__ = ()

    def __str__(self) -> str:
        raise LookupError("not for you")

    __len__ = __iter__ = isascii = encode = __str__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise LookupError("not for you")

    __hash__ = str.__hash__


ODD: dict[str, Callable[[], Any]] = {
    "nothing": lambda: None,
    "number": lambda: 7,
    "bytes": lambda: b"\xff",
    "list": lambda: ["a"],
    "set": lambda: {1, 2},
    "dict": lambda: {"a": 1},
    "object": object,
    "function": lambda: len,
    "model": lambda: Point(x=1),
    "nan": lambda: float("nan"),
    "huge": lambda: 10**400,
    "half a character": lambda: "\ud800",
    "without a class": lambda: Hostile("__class__"),
    "without keys": lambda: Hostile("keys"),
    "hostile dict": lambda: HostileDict(a=1),
    "hostile text": lambda: HostileText("a"),
    "number as key": lambda: {1: 2},
    "nothing as key": lambda: {None: 1},
    "huge key": lambda: {"a" * 100_000: 1},
    "half a character as key": lambda: {"\ud800": 1},
    "hostile key": lambda: {HostileText("text"): 1},
    "in itself": lambda: _in_itself(),
}


@dataclass(frozen=True)
class Odd:
    """Stands for one of them, since Hypothesis would look at the thing itself."""

    name: str


def real(value: Any) -> Any:
    """The value with the odd things themselves in it."""
    if isinstance(value, Odd):
        return ODD[value.name]()
    if isinstance(value, dict):
        return {name: real(part) for name, part in value.items()}
    return [real(part) for part in value] if isinstance(value, list) else value


def _in_itself() -> dict[str, Any]:
    circle: dict[str, Any] = {}
    circle["text"] = circle
    return circle


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
odd_values = st.sampled_from(sorted(ODD)).map(lambda name: Odd(name))
known_arguments = st.fixed_dictionaries(
    {},
    optional={
        "text": json_values | odd_values | st.just("x"),
        "number": json_values | odd_values,
        "flag": json_values,
        "points": st.lists(st.fixed_dictionaries({"x": st.integers() | json_values})) | odd_values,
        "names": json_values,
        "place": st.text() | odd_values,
    },
)
arguments = st.none() | json_values | known_arguments | odd_values | st.dictionaries(st.text(), odd_values)
maybe_text = st.none() | st.text() | st.sampled_from(["k", "s", "\x00", "\ud800", "é" * 5_000])


@pytest.mark.req("EX-01", "EX-02", "EX-03", "EX-12")
@given(
    name=st.sampled_from(NAMES) | st.text(),
    args=arguments,
    source=st.sampled_from(SOURCES) | st.text(),
    session=maybe_text,
    key=maybe_text,
    digest=st.none() | st.sampled_from([one.digest for one in TOOLS]) | st.text(),
    call_id=maybe_text,
    policy=st.sampled_from(POLICIES),
    answer=st.sampled_from([None, True, False, "nonsense", 7]),
)
@example("plain.read", Odd("hostile dict"), "agent", None, None, None, None, POLICIES[0], None)
@example("desk.write", {"place": "\ud800"}, "api", "s", "k", None, "c", POLICIES[1], None)
async def test_every_call_has_an_outcome_that_fits_its_events(
    name, args, source, session, key, digest, call_id, policy, answer
) -> None:
    async def approver(request):
        return answer

    options = {"source": source, "session": session, "idempotency_key": key, "digest": digest}
    async with Handrail(TOOLS, policy=policy, approver=approver if answer is not None else None) as hr:
        out = await hr.call(name, real(args), id=call_id, **options)
        consistent(out, list(hr.log.read("local", call_id=out.call_id)))
        out = await hr.call(name, real(args), **options)
        consistent(out, list(hr.log.read("local", call_id=out.call_id)), again=key is not None)
        assert not open_runs(hr.log.read("local"))
        assert not hr._runtime.running and not len(hr._runtime.claims)  # type: ignore[arg-type]
    task = asyncio.current_task()
    assert task is not None and task.cancelling() == 0


@pytest.mark.req("EX-02", "EX-03")
@pytest.mark.parametrize("odd", ["nothing", "number", "bytes", "list", "object", "half a character"])
@pytest.mark.parametrize(
    "where", ["tool", "source", "session", "idempotency_key", "digest", "id", "turn", "message"]
)
async def test_an_object_where_text_belongs_is_no_reason_to_raise(where, odd) -> None:
    async with Handrail(TOOLS, policy=POLICIES[1]) as hr:
        given = {"tool": "desk.write", where: ODD[odd]()}
        out = await hr.call(given.pop("tool"), {}, **given)
        assert isinstance(out, Outcome)
        assert out.status in EVENTS
        list(hr.log.read("local"))
        assert not hr._runtime.running and not len(hr._runtime.claims)  # type: ignore[arg-type]


@pytest.mark.req("EX-01", "EX-03")
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", ["plain.read", "deep.read", "any.read", "desk.write", "no.tool"])
async def test_whatever_the_arguments_are_there_is_an_outcome(name, odd) -> None:
    async with Handrail(TOOLS, policy=POLICIES[1]) as hr:
        given: list[Any] = [ODD[odd](), {"text": ODD[odd]()}, {"points": [ODD[odd]()]}, [ODD[odd]()]]
        for args in given:
            out = await hr.call(name, args)
            consistent(out, list(hr.log.read("local", call_id=out.call_id)))


@pytest.mark.req("EX-03")
@pytest.mark.parametrize("odd", ["object", "in itself", "hostile dict", "number as key"])
async def test_the_record_of_a_refused_call_is_json(odd) -> None:
    async with Handrail(TOOLS) as hr:
        await hr.call("plain.read", {"text": "kept", "number": ODD[odd]()})
        [failed] = hr.log.read("local")
        json.dumps(failed.to_dict(), allow_nan=False)


@pytest.mark.req("EX-03")
async def test_what_the_caller_changes_later_does_not_change_the_record() -> None:
    async with Handrail(TOOLS) as hr:
        wrong = {"points": [{"x": "many"}]}
        await hr.call("deep.read", wrong)
        right: dict[str, Any] = {"points": [{"x": 1}]}
        await hr.call("deep.read", right)
        wrong["points"].clear()
        right["points"].clear()
        inputs = [event.payload()["input"] for event in hr.log.read("local") if "input" in event.payload()]
        assert inputs == [{"points": [{"x": "many"}]}, {"points": [{"x": 1}]}]
