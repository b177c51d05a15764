"""Batches for those who run calls in a loop of their own; what may overlap follows from the tool."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Call, Handrail, Policy, Principal, Tool, tool
from handrail.core.guard.footprint import ALONE, FREE, Footprint, footprint_of
from handrail.ext.compat import extract_tool_file_path
from handrail.ext.errors import DefinitionError
from handrail.ext.tools import path_key


def made(name: str, **options: Any) -> Tool:
    @tool(name, **options)
    async def body(path: str = "", command: str = "") -> None:
        """Do it."""

    return body


READ = made("read_file", level="read", concurrency="parallel", reads=lambda args: [args.path])
GREP = made("grep", level="read")
WRITE = made("write_file", level="write", concurrency="by_path")
BASH = made("bash", level="read", concurrency="sequential")
SEND = made("mail.send", level="write")
DRAFT = made("mail.draft", level="draft")


def footprint(one: Tool, **args: Any) -> Footprint:
    assert one.validate is not None
    return footprint_of(one, one.validate({**args}), args)


@pytest.mark.req("BP-04", "BP-05", "BP-06", "BP-07", "BP-10")
def test_what_a_call_touches_follows_from_its_class_its_keys_and_its_level() -> None:
    assert footprint(GREP, path="a") == footprint(DRAFT) == FREE
    assert footprint(READ, path="a") == Footprint(reads=frozenset({"a"}))
    assert footprint(WRITE, path="a") == Footprint(writes=frozenset({path_key("a")}))
    assert footprint(WRITE, path="./b/../a") == footprint(WRITE, path="a") != footprint(WRITE, path="b")
    for unknown in (footprint(WRITE), footprint(SEND, path="a"), footprint(BASH, path="a")):
        assert unknown is ALONE


@pytest.mark.req("BP-10")
def test_who_writes_without_saying_what_or_cannot_say_it_runs_alone() -> None:
    assert footprint(made("a", level="write", reads=lambda args: ["x"])) is ALONE
    assert footprint(made("b", level="write", writes=lambda args: [])) is ALONE
    assert footprint(made("c", level="read", reads=lambda args: args.nothing)) is ALONE
    assert footprint(made("d", level="read", concurrency="by_path", reads=lambda args: None)) is ALONE
    assert footprint(made("e", level="write", writes=lambda args: "x")) == Footprint(writes=frozenset({"x"}))
    assert footprint(made("f", level="write", concurrency="parallel")) == FREE
    of_call = made("g", level=lambda args: "write" if args.command else "read")
    assert (footprint(of_call), footprint(of_call, command="rm")) == (FREE, ALONE)


@pytest.mark.req("BP-06")
@pytest.mark.parametrize("name", ["path", "file_path", "filePath", "file", "filename"])
def test_the_path_is_found_under_the_names_that_file_tools_use(name: str) -> None:
    assert extract_tool_file_path({"x": "other", name: "a.txt"}) == "a.txt"
    assert extract_tool_file_path({name: 7}) is extract_tool_file_path({name: ""}) is None


@pytest.mark.req("BP-03")
async def test_a_pass_is_split_into_parallel_conditional_and_sequential_batches() -> None:
    def call(name: str, **args: Any) -> Call:
        return Call(name, args)

    async with Handrail([READ, GREP, WRITE, BASH]) as hr:
        batches = await hr.batches(
            [
                call("read_file", path=path_key("a")),
                call("grep"),
                call("write_file", path="b"),
                call("write_file", path="c"),
                call("read_file", path=path_key("c")),
                call("bash"),
                call("bash"),
                call("grep", path=5),
                call("unknown"),
            ]
        )
    assert [(one.kind, [call.tool for call in one.calls]) for one in batches] == [
        ("conditional", ["read_file", "grep", "write_file", "write_file"]),
        ("parallel", ["read_file"]),
        ("sequential", ["bash"]),
        ("sequential", ["bash"]),
        ("parallel", ["grep"]),
        ("sequential", ["unknown"]),
    ]


@pytest.mark.req("BP-03")
@given(
    st.lists(st.tuples(st.sampled_from(["read_file", "grep", "write_file", "bash"]), st.sampled_from("abc")))
)
async def test_batches_keep_every_call_in_order_and_hold_no_two_that_clash(
    pairs: list[tuple[str, str]],
) -> None:
    tools = {one.id: one for one in (READ, GREP, WRITE, BASH)}
    async with Handrail(tools.values()) as hr:
        batches = await hr.batches(
            [Call(name, {"path": path}, id=f"{n}") for n, (name, path) in enumerate(pairs)]
        )
    assert [call.id for batch in batches for call in batch.calls] == [f"{n}" for n in range(len(pairs))]
    for batch in batches:
        prints = [
            footprint(tools[pairs[int(call.id or 0)][0]], path=pairs[int(call.id or 0)][1])
            for call in batch.calls
        ]
        assert not any(one.clashes(other) for n, one in enumerate(prints) for other in prints[:n])
        assert (batch.kind == "sequential") == (prints == [ALONE])


@pytest.mark.req("BP-03", "PM-01")
async def test_grouping_tells_nothing_of_a_tool_that_the_caller_may_not_see() -> None:
    hidden = made("hidden", level="read", tenants=["other"])
    async with Handrail([hidden], policy=Policy()) as hr:
        who = Principal(tenant="acme")
        kinds = [
            batch.kind for batch in await hr.batches([Call("hidden", {}, who), Call("nowhere", {}, who)])
        ]
    assert kinds == ["sequential", "sequential"]


@pytest.mark.req("BP-03")
def test_a_class_that_there_is_not_is_refused_at_registration() -> None:
    with pytest.raises(DefinitionError, match="'sometimes' is not a concurrency"):
        made("x", concurrency="sometimes")


keys = st.frozensets(st.text("ab/", min_size=1, max_size=4), max_size=3)
footprints = st.builds(Footprint, keys, keys, st.booleans())


@pytest.mark.req("BY-11")
@given(footprints, footprints)
def test_clashing_is_mutual_and_two_readers_never_clash(one: Footprint, other: Footprint) -> None:
    assert one.clashes(other) == other.clashes(one)
    if not (one.alone or other.alone):
        assert not Footprint(reads=one.reads).clashes(Footprint(reads=other.reads))
        if one.writes & (other.reads | other.writes):
            assert one.clashes(other)


@pytest.mark.req("BP-05", "BP-10", "BP-11")
async def test_relative_paths_are_those_of_the_folder_that_the_tools_work_in(tmp_path: Path) -> None:
    running: list[str] = []

    @tool("write_file", level="write", concurrency="by_path")
    async def write(path: str) -> list[str]:
        """Write it."""
        running.append(path)
        await asyncio.sleep(0)
        seen = list(running)
        running.remove(path)
        return seen

    policy = Policy(approval_mode="policy")
    calls = [Call("write_file", {"path": path}) for path in (str(tmp_path / "a"), "a")]
    async with Handrail([write], policy=policy, working_dir=str(tmp_path)) as hr:
        outcomes = await hr.call_many(calls)
        groups = await hr.batches(calls)
    assert [out.result.data for out in outcomes] == [[str(tmp_path / "a")], ["a"]]
    assert len(groups) == 2


@pytest.mark.req("BP-05", "BP-10")
def test_every_path_among_the_arguments_counts() -> None:
    @tool("files.copy", level="write", concurrency="by_path")
    async def copy(path: str, file: str) -> None:
        """Copy."""

    assert footprint(copy, path="a", file="b").writes == {path_key("a"), path_key("b")}
