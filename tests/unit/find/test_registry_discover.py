"""Tools that register themselves when their module is imported, and modules searched for tools."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail import Handrail
from handrail.ext.compat import default_registry
from handrail.ext.toolsets import discover

SELL = """
from handrail import tool
from handrail.ext.compat import register_tool

@register_tool
@tool("madeup.sell", level="read")
def sell(item: str) -> str:
    "Sell an item."
    return item
"""
BUY = """
from handrail import BaseTool
from handrail.ext.compat import register_tool

class Trade(BaseTool):
    "What all trades share: no tool by itself."

    level = "read"

class Buy(Trade):
    "Buy an item."

    id = "madeup.buy"

    def execute(self, item: str) -> str:
        return item

register_tool(Buy)
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `madeup_shop` whose index imports two tool modules."""
    package = tmp_path / "madeup_shop"
    (package / "deep").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "deep/__init__.py").write_text("")
    (package / "index.py").write_text("import madeup_shop.sell\nimport madeup_shop.deep.buy\n")
    (package / "sell.py").write_text(SELL)
    (package / "deep/buy.py").write_text(BUY)
    monkeypatch.syspath_prepend(tmp_path)
    yield package
    for name in [name for name in sys.modules if name.startswith("madeup_shop")]:
        del sys.modules[name]
    for one in ("madeup.sell", "madeup.buy"):
        default_registry.unregister(one)


@pytest.mark.req("RG-11", "RG-02")
async def test_importing_the_index_registers_every_tool(shop: Path) -> None:
    importlib.import_module("madeup_shop.index")

    async with Handrail(registry=default_registry) as hr:
        assert (await hr.call("madeup.sell", {"item": "axe"})).result.data == "axe"
        assert (await hr.call("madeup.buy", {"item": "axe"})).result.data == "axe"


@pytest.mark.req("RG-11")
def test_importing_again_registers_nothing_twice(shop: Path) -> None:
    importlib.import_module("madeup_shop.index")
    before = default_registry.get("madeup.sell")
    importlib.import_module("madeup_shop.index")

    assert default_registry.get("madeup.sell") is before


@pytest.mark.req("RG-11")
def test_a_package_is_searched_for_tools_and_their_classes(shop: Path) -> None:
    found = discover("madeup_shop")

    assert sorted(one.id for one in found) == ["madeup.buy", "madeup.sell"]
    assert [one.id for one in discover("madeup_shop.deep.buy")] == ["madeup.buy"]


@pytest.mark.req("RG-11")
async def test_an_engine_takes_a_whole_package(shop: Path) -> None:
    async with Handrail([importlib.import_module("madeup_shop")]) as hr:
        assert [one.id for one in await hr.tools()] == ["madeup.buy", "madeup.sell"]
