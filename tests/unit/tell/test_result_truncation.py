"""Results too large for a model are cut in one place; the whole stays readable, with the same authority."""

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handrail import Handrail, Policy, Principal, Result, Tool, ToolError, define
from handrail.ext.tools import MODEL_LIMIT, read_result
from handrail.ext.toolsets import StaticToolset

ANA = Principal(tenant="acme", user="ana", agent="ops", workspace="w1")
FOLLOW = re.compile(r"\n\[(\d+) characters follow\. Read on with offset=(\d+)\.\]\Z")
CUT = re.compile(
    r"\n\[cut: (\d+) of (\d+) characters shown\. "
    r"Read on with read_result\(handle='(.+)', offset=(\d+)\)\.\]\Z"
)


def book(text: Any, **options: Any) -> Tool:
    async def execute(args: Any) -> Any:
        return text

    return define("book.read", {"description": "Read it.", "level": "read", "execute": execute, **options})


async def whole(hr: Handrail, handle: str, size: int) -> str:
    """All pages put together."""
    pages: list[str] = []
    offset = 0
    while True:
        page = await hr.read_result(handle, ANA, offset, size)
        if (follow := FOLLOW.search(page)) is None or len(page) <= size:
            return "".join([*pages, page])
        pages.append(page[: follow.start()])
        assert len(pages[-1]) == size
        offset = int(follow[2])
        assert offset == sum(map(len, pages))


@pytest.mark.req("BY-15", "TR-19")
@pytest.mark.parametrize("value", ["word " * 20_000, [{"id": n, "name": "n" * 50} for n in range(2_000)]])
async def test_what_is_too_large_is_cut_with_sizes_and_a_handle(value: Any) -> None:
    async with Handrail([book(value)]) as hr:
        outcome = await hr.call("book.read", principal=ANA)
        told = outcome.to_model()
        marker = CUT.search(told)
        assert marker is not None
        total = len(outcome.result.text())
        assert marker.groups() == (str(MODEL_LIMIT), str(total), outcome.call_id, str(MODEL_LIMIT))
        assert marker.start() == MODEL_LIMIT and told[:MODEL_LIMIT] == outcome.result.text()[:MODEL_LIMIT]
        assert outcome.to_mcp()["content"][0]["text"] == outcome.to_langchain()[0] == told
        rest = await hr.read_result(outcome.call_id, ANA, MODEL_LIMIT, total)
        assert told[:MODEL_LIMIT] + rest == outcome.result.text()


@pytest.mark.req("BY-15")
@given(st.text(min_size=1, max_size=300), st.integers(1, 60))
@example("👩‍👩‍👧 é ǘ \U0001f1e8\U0001f1ed" * 5, 1)
@example("[1 characters follow. Read on with offset=1.]\n" * 3, 7)
async def test_the_pages_put_together_are_the_whole(text: str, size: int) -> None:
    async with Handrail([book(text)]) as hr:
        outcome = await hr.call("book.read", principal=ANA)
        assert await whole(hr, outcome.call_id, size) == outcome.result.text()


@pytest.mark.req("BY-15")
@given(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=400), st.integers(5, 40), st.integers(5, 60)
)
@example("0123456789" * 30, 30, 10)
@example("0123456789" * 30, 10, 30)
async def test_a_model_that_follows_the_markers_loses_nothing(text: str, bound: int, size: int) -> None:
    """Whatever its own bound is, and however large the pages are that it asks for."""
    async with Handrail([book(text), read_result]) as hr:
        told = (await hr.call("book.read", principal=ANA)).to_model(bound)
        read = ""
        while True:
            cut, follow = CUT.search(told), FOLLOW.search(told)
            if cut is not None:
                read += told[: cut.start()]
                handle, offset = cut[3], int(cut[4])
            elif follow is not None:
                read += told[: follow.start()]
                offset = int(follow[2])
            else:
                break
            assert offset == len(read)
            page = await hr.call(
                "read_result", {"handle": handle, "offset": offset, "limit": size}, principal=ANA
            )
            told = page.to_model(bound)
        assert read + told == text


@pytest.mark.req("BY-15")
async def test_a_model_reads_on_with_a_tool_like_any_other() -> None:
    async with Handrail([book("0123456789"), read_result]) as hr:
        first = await hr.call("book.read", principal=ANA)
        page = await hr.call("read_result", {"handle": first.call_id, "offset": 4, "limit": 3}, principal=ANA)
        assert page.to_model() == "456\n[3 characters follow. Read on with offset=7.]"
        end = await hr.call("read_result", {"handle": first.call_id, "offset": 7}, principal=ANA)
        assert end.to_model() == "789"
        nothing = await hr.call("read_result", {"handle": "call_0"}, principal=ANA)
        assert (nothing.status, nothing.result.error) == ("failed", "There is no result 'call_0' to read.")
        wrong = await hr.call("read_result", {"handle": first.call_id, "offset": -1}, principal=ANA)
        assert wrong.code == "INVALID_PARAM"


@pytest.mark.req("BY-15")
@pytest.mark.parametrize(
    "other",
    [
        Principal(tenant="other", user="ana", agent="ops", workspace="w1"),
        Principal(tenant="acme", user="bo", agent="ops", workspace="w1"),
        Principal(tenant="acme", user="ana", agent="rival", workspace="w1"),
        Principal(tenant="acme", user="ana", workspace="w1"),
        Principal(tenant="acme", user="ana", agent="ops", workspace="w2"),
        Principal(tenant="acme", user=None, agent="ops", permissions={"*"}),
        Principal.local(),
    ],
)
async def test_nobody_else_reads_it(other: Principal) -> None:
    async with Handrail([book("secret plans"), read_result]) as hr:
        outcome = await hr.call("book.read", principal=ANA)
        with pytest.raises(ToolError, match="There is no result"):
            await hr.read_result(outcome.call_id, other)
        page = await hr.call("read_result", {"handle": outcome.call_id}, principal=other)
        assert page.status == "failed" and "secret plans" not in page.to_model()
        assert await hr.read_result(outcome.call_id, ANA) == "secret plans"


@pytest.mark.req("BY-15")
async def test_the_same_person_with_other_permissions_reads_it_while_the_tool_is_visible() -> None:
    reader = Principal("acme", "ana", permissions={"books.read"})
    async with Handrail([book("text", requires="books.read")]) as hr:
        outcome = await hr.call("book.read", principal=reader)
        promoted = Principal("acme", "ana", roles={"boss"}, permissions={"books.read", "more"})
        assert await hr.read_result(outcome.call_id, promoted) == "text"
        with pytest.raises(ToolError):
            await hr.read_result(outcome.call_id, Principal("acme", "ana"))


@pytest.mark.req("BY-15")
async def test_a_tool_that_became_invisible_takes_its_results_along() -> None:
    async with Handrail([book("text")]) as hr:
        outcome = await hr.call("book.read", principal=ANA)
        hr.registry.register(book("text", tenants=["other"]), replace=True)
        with pytest.raises(ToolError):
            await hr.read_result(outcome.call_id, ANA)
        hr.registry.register(book("other text"), replace=True)
        assert await hr.read_result(outcome.call_id, ANA) == "text"
        hr.registry.unregister("book.read")
        with pytest.raises(ToolError):
            await hr.read_result(outcome.call_id, ANA)


@pytest.mark.req("BY-15")
async def test_results_of_a_toolsets_tools_are_readable_too() -> None:
    async with Handrail([StaticToolset([book("text")])]) as hr:
        outcome = await hr.call("book.read", principal=ANA)
        assert await hr.read_result(outcome.call_id, ANA) == "text"


class Shelf:
    """A toolset whose one tool changes, goes, or cannot be asked for."""

    def __init__(self, held: Tool | None) -> None:
        self.held = held
        self.broken = False

    async def tools(self, principal: Principal, /) -> list[Tool]:
        return [self.held] if self.held else []

    async def find(self, name: str, principal: Principal, /) -> Tool | None:
        if self.broken:
            raise OSError("no answer")
        return self.held if self.held and self.held.id == name else None


@pytest.mark.req("BY-15")
async def test_a_toolsets_tool_that_became_invisible_takes_its_results_along() -> None:
    shelf = Shelf(book("text", requires="books.read"))
    reader = Principal("acme", "ana", permissions={"books.read"})
    async with Handrail([shelf, read_result]) as hr:
        outcome = await hr.call("book.read", principal=reader)
        assert await hr.read_result(outcome.call_id, reader) == "text"

        with pytest.raises(ToolError, match="There is no result"):
            await hr.read_result(outcome.call_id, ANA)
        page = await hr.call("read_result", {"handle": outcome.call_id}, principal=ANA)
        assert (page.status, page.code) == ("failed", "TOOL_NOT_FOUND")

        shelf.held = book("text", tenants=["other"])
        with pytest.raises(ToolError, match="There is no result"):
            await hr.read_result(outcome.call_id, reader)


@pytest.mark.req("BY-15")
async def test_a_toolset_that_no_longer_has_the_tool_or_fails_gives_nothing_to_read() -> None:
    shelf = Shelf(book("text"))
    async with Handrail([shelf]) as hr:
        outcome = await hr.call("book.read", principal=ANA)
        shelf.broken = True
        with pytest.raises(ToolError, match="Try again later") as failed:
            await hr.read_result(outcome.call_id, ANA)
        assert failed.value.code == "TOOL_UNAVAILABLE"

        shelf.broken, shelf.held = False, None
        with pytest.raises(ToolError, match="There is no result"):
            await hr.read_result(outcome.call_id, ANA)


@pytest.mark.req("BY-15")
async def test_a_body_reads_earlier_results_with_its_callers_authority() -> None:
    async def execute(args: Any, ctx: Any) -> str:
        return str(await ctx.read_result(args["handle"], 2, 3))

    schema = {"type": "object", "properties": {"handle": {"type": "string"}}}
    peek = define("book.peek", {"description": "Peek.", "level": "read", "input": schema, "execute": execute})
    async with Handrail([book("0123456789"), peek]) as hr:
        outcome = await hr.call("book.read", principal=ANA)
        seen = await hr.call("book.peek", {"handle": outcome.call_id}, principal=ANA)
        assert seen.result.data == "234\n[5 characters follow. Read on with offset=5.]"
        other = await hr.call("book.peek", {"handle": outcome.call_id}, principal=Principal("acme", "bo"))
        assert other.status == "failed"


@pytest.mark.req("BY-15")
async def test_a_large_failure_is_cut_and_readable_as_well() -> None:
    async with Handrail([book(Result.fail("it went wrong " * 5_000))]) as hr:
        outcome = await hr.call("book.read", principal=ANA)
        assert CUT.search(outcome.to_model()) is not None
        assert await hr.read_result(outcome.call_id, ANA, 0, 10**6) == outcome.result.text()


@pytest.mark.req("BY-15")
async def test_the_handle_of_a_repeated_answer_is_the_one_that_can_be_read() -> None:
    tool = book("word " * 20_000, level="write")
    async with Handrail([tool], policy=Policy(approval_mode="policy")) as hr:
        first = await hr.call("book.read", principal=ANA, idempotency_key="k")
        again = await hr.call("book.read", principal=ANA, idempotency_key="k")
        marker = CUT.search(again.to_model())
        assert again.status == "duplicate" and marker is not None and marker[3] == first.call_id
        assert await hr.read_result(marker[3], ANA, MODEL_LIMIT, 4) == "word\n[69996 characters follow. " + (
            f"Read on with offset={MODEL_LIMIT + 4}.]"
        )


@pytest.mark.req("BY-15")
async def test_under_one_handle_the_newest_result_is_read() -> None:
    texts = iter(["first", "second"])

    async def execute(args: Any) -> str:
        return next(texts)

    tool = define("book.read", {"description": "Read it.", "level": "read", "execute": execute})
    async with Handrail([tool]) as hr:
        for _ in range(2):
            await hr.call("book.read", principal=ANA, id="mine")
        assert await hr.read_result("mine", ANA) == "second"
