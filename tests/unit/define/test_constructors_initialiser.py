"""A tool with an initialiser is only a name until its first use; then it is checked, compiled and kept."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from pydantic import BaseModel

from handrail import BaseTool, Handrail, Registry, Tool, define
from handrail.ext.compat import InitContext
from handrail.ext.errors import DefinitionError
from handrail.ext.toolsets import PrefixedToolset, StaticToolset


class Sale(BaseModel):
    item: str
    price: int = 1


def counted(definition: Any) -> tuple[Callable[[InitContext], Awaitable[Any]], list[InitContext]]:
    """An async initialiser that returns the definition, and the contexts it was called with."""
    calls: list[InitContext] = []

    async def initialise(init: InitContext) -> Any:
        await asyncio.to_thread(calls.append, init)
        return definition

    return initialise, calls


def sold(args: Sale) -> str:
    return f"{args.item} for {args.price}"


SELL = {"description": "Sell an item.", "parameters": Sale, "level": "read", "execute": sold}


@pytest.mark.req("TD-19", "RG-09", "RG-10")
async def test_nothing_runs_before_the_first_use() -> None:
    initialise, calls = counted(SELL)

    async with Handrail([define("shop.sell", initialise)]) as hr:
        waiting = hr.registry.get("shop.sell")
        assert waiting is not None and not waiting.ready and calls == []

        out = await hr.call("shop.sell", {"item": "axe"})

        ready = hr.registry.get("shop.sell")
        assert out.result.data == "axe for 1"
        assert ready is not None and ready.ready and len(calls) == 1


@pytest.mark.req("RG-09", "RG-08")
async def test_it_is_initialised_once_for_all_its_calls() -> None:
    initialise, calls = counted(SELL)

    async with Handrail([define("shop.sell", initialise)]) as hr:
        for _ in range(3):
            assert (await hr.call("shop.sell", {"item": "axe"})).ok
        [listed] = await hr.tools()

    assert len(calls) == 1
    assert listed is hr.registry.get("shop.sell")


@pytest.mark.req("RG-09", "RG-10")
async def test_calls_that_come_first_together_share_one_initialisation() -> None:
    initialise, calls = counted(SELL)

    async with Handrail([define("shop.sell", initialise)]) as hr:
        used = [hr.call("shop.sell", {"item": str(number)}) for number in range(20)]
        listings = [hr.tools() for _ in range(5)]
        outs, listed = await asyncio.gather(asyncio.gather(*used), asyncio.gather(*listings))

    assert len(calls) == 1
    assert [out.result.data for out in outs] == [f"{number} for 1" for number in range(20)]
    assert {id(tools[0]) for tools in listed} == {id(hr.registry.get("shop.sell"))}


async def test_a_cancelled_caller_leaves_the_initialisation_to_the_others() -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()
    calls = 0

    async def initialise(init: InitContext) -> Any:
        nonlocal calls
        calls += 1
        begun.set()
        await go_on.wait()
        return SELL

    async with Handrail([define("shop.sell", initialise)]) as hr:
        first = asyncio.create_task(hr.call("shop.sell", {"item": "axe"}))
        second = asyncio.create_task(hr.call("shop.sell", {"item": "saw"}))
        await begun.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        go_on.set()
        out = await second

    assert (out.result.data, calls) == ("saw for 1", 1)


async def test_an_initialisation_nobody_waits_for_any_more_is_given_up() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def initialise(init: InitContext) -> Any:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with Handrail([define("shop.sell", initialise)]) as hr:
        only = asyncio.create_task(hr.call("shop.sell", {"item": "axe"}))
        await begun.wait()
        only.cancel()
        with pytest.raises(asyncio.CancelledError):
            await only
        await asyncio.wait_for(ended.wait(), 30)


@pytest.mark.req("TD-19")
async def test_two_engines_initialise_the_same_tool_each_for_itself() -> None:
    initialise, calls = counted(SELL)
    sell = define("shop.sell", initialise)

    async with Handrail([sell], working_dir="/one") as one, Handrail([sell], working_dir="/two") as two:
        await asyncio.gather(one.call("shop.sell", {"item": "axe"}), two.call("shop.sell", {"item": "axe"}))

    assert sorted(call.working_dir for call in calls) == ["/one", "/two"]
    assert not sell.ready


async def broken(init: InitContext) -> dict[str, Any]:
    return {"description": "", "execute": sold, "parameters": Sale}


@pytest.mark.req("TD-27", "RG-10")
async def test_a_bad_definition_makes_the_tool_unavailable_and_tells_the_developer_where(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR, "handrail.find"):
        async with Handrail([define("shop.sell", broken)]) as hr:
            out = await hr.call("shop.sell", {"item": "axe"})

    assert (out.status, out.code) == ("refused", "TOOL_UNAVAILABLE")
    assert f"{__file__}:{inspect.getsourcelines(broken)[1]}" in caplog.text
    assert "it has no description" in caplog.text and "remedy" in caplog.text


@pytest.mark.req("TD-27")
async def test_a_listing_leaves_out_what_cannot_be_initialised(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "handrail.find"):
        async with Handrail([define("shop.sell", broken), define("shop.buy", {**SELL})]) as hr:
            listed = await hr.tools()

    assert [one.id for one in listed] == ["shop.buy"]
    assert "shop.sell" in caplog.text


@pytest.mark.req("RG-10")
async def test_an_initialisation_that_failed_is_tried_again() -> None:
    attempts = 0

    async def initialise(init: InitContext) -> Any:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            raise ConnectionError("not yet")
        return SELL

    async with Handrail([define("shop.sell", initialise)]) as hr:
        first = await hr.call("shop.sell", {"item": "axe"})
        second = await hr.call("shop.sell", {"item": "axe"})

    assert (first.code, second.result.data) == ("TOOL_UNAVAILABLE", "axe for 1")


class Sell(BaseTool):
    """Sell an item."""

    id = "shop.sell"
    level = "read"

    def execute(self, item: str) -> str:
        return f"{item} for 1"


@pytest.mark.req("TD-19", "TD-21")
@pytest.mark.parametrize(
    "definition",
    [SELL, type("Definition", (), {**SELL, "execute": staticmethod(sold)}), Sell(), Sell.tool()],
    ids=["mapping", "object", "class style", "finished tool"],
)
async def test_an_initialiser_may_return_any_style_of_definition(definition: Any) -> None:
    initialise, _ = counted(definition)

    async with Handrail([define("shop.sell", initialise)]) as hr:
        out = await hr.call("shop.sell", {"item": "axe"})

    assert out.result.data == "axe for 1"


@pytest.mark.parametrize(
    ("definition", "problem"),
    [
        (define("shop.sell", lambda init: SELL), "waits for an initialiser"),
        (define("shop.buy", {**SELL}), "returned 'shop.buy'"),
        ({**SELL, "colour": "red"}, "'colour' is not an option"),
    ],
    ids=["another initialiser", "another id", "unknown option"],
)
async def test_an_initialiser_that_returns_something_else_is_told_so(definition: Any, problem: str) -> None:
    initialise, _ = counted(definition)

    async with Handrail([define("shop.sell", initialise)]) as hr:
        out = await hr.call("shop.sell", {"item": "axe"})

    assert out.code == "TOOL_UNAVAILABLE"
    assert problem in (out.result.error or "")


@pytest.mark.req("NM-07")
@pytest.mark.parametrize("aliases", ["sell", ["sell"], {"sell": {"thing": "item"}}])
async def test_aliases_are_known_before_and_after_the_first_use(aliases: Any) -> None:
    initialise, _ = counted({**SELL, "aliases": ["vend"]})

    async with Handrail([define("shop.sell", initialise, aliases=aliases)]) as hr:
        out = await hr.call("sell", {"item": "axe"})
        again = await hr.call("vend", {"item": "axe"})

    assert (out.tool, again.tool) == ("shop.sell", "shop.sell")


@pytest.mark.req("NM-07")
async def test_an_alias_given_before_may_rename_parameters() -> None:
    initialise, _ = counted(SELL)

    async with Handrail([define("shop.sell", initialise, aliases={"vend": {"thing": "item"}})]) as hr:
        out = await hr.call("vend", {"thing": "axe"})

    assert out.result.data == "axe for 1"


@pytest.mark.req("NM-07")
async def test_a_name_that_turns_out_to_be_taken_makes_the_tool_unavailable() -> None:
    initialise, _ = counted({**SELL, "aliases": ["shop.buy"]})

    async with Handrail([define("shop.sell", initialise), define("shop.buy", {**SELL})]) as hr:
        out = await hr.call("shop.sell", {"item": "axe"})
        other = await hr.call("shop.buy", {"item": "axe"})

    assert (out.code, other.tool) == ("TOOL_UNAVAILABLE", "shop.buy")


@pytest.mark.req("TD-13", "RG-09")
async def test_capabilities_given_at_registration_outlive_the_initialisation() -> None:
    initialise, _ = counted(SELL)
    registry = Registry()
    registry.register(define("shop.sell", initialise), permissions={"required": ["execute"]})

    async with Handrail(registry=registry) as hr:
        [listed] = await hr.tools()

    assert listed.ready and listed.capabilities == {"execute"}


async def test_a_local_return_type_of_an_initialised_tool_is_understood() -> None:
    async def initialise(init: InitContext) -> Any:
        class Receipt(BaseModel):
            text: str

        def execute(args: Sale) -> Receipt:
            return Receipt(text=args.item)

        return {**SELL, "execute": execute}

    async with Handrail([define("shop.sell", initialise)]) as hr:
        [listed] = await hr.tools()

    assert listed.output_schema == {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    }


async def test_a_toolset_may_hold_tools_with_initialisers() -> None:
    initialise, _ = counted(SELL)
    shop = PrefixedToolset(StaticToolset([define("sell", initialise)]), "shop")

    async with Handrail([shop]) as hr:
        out = await hr.call("shop.sell", {"item": "axe"})

    assert (out.tool, out.result.data) == ("shop.sell", "axe for 1")


def test_an_initialised_tool_that_is_bad_by_itself_is_refused_at_once() -> None:
    with pytest.raises(DefinitionError, match="is not a name") as refused:
        define("shop sell", broken)

    location = refused.value.location
    assert location is not None and (location.file, location.line) == (
        __file__,
        inspect.getsourcelines(broken)[1],
    )


def test_a_waiting_tool_shows_its_names_only() -> None:
    waiting = define("shop.sell", broken, aliases=["sell"])

    assert isinstance(waiting, Tool)
    assert (waiting.names, waiting.ready, waiting.description) == (("shop.sell", "sell"), False, "")
