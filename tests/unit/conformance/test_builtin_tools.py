"""The tools of this project keep the rules that it has for others."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from handrail import Tool
from handrail.conformance import INTENTIONALLY_INPUT_LESS, check
from handrail.ext.toolsets import discover
from handrail.testing import assert_conformant

ROOT = Path(__file__).parents[3]
SHIPPED = [*discover("handrail.core"), *discover("handrail.toolsets")]
INPUT_LESS = INTENTIONALLY_INPUT_LESS | {
    "admin.reset",
    "bank.balance",
    "book.read",
    "crm.contacts",
    "files.pack",
    "forever.wait",
    "lab.mix",
    "mail.read",
    "reports.count",
    "shapes.where",
    "shelf.list",
    "sleepy.nap",
}


FILES = sorted((*(ROOT / "docs_src").glob("*.py"), *(ROOT / "examples").rglob("*.py")))
MODULES = [".".join(file.relative_to(ROOT).with_suffix("").parts) for file in FILES]


@pytest.mark.req("CF-01", "CF-03", "DS-01", "DS-02", "DS-03", "DS-04", "DS-05")
@pytest.mark.parametrize("name", MODULES)
def test_every_tool_of_a_page_or_an_example_is_conformant(name: str) -> None:
    for made in discover(importlib.import_module(name)):  # one by one: some show the same tool twice
        assert_conformant([made], input_less=INPUT_LESS, strict=True)


@pytest.mark.req("CF-01", "CF-03", "DS-01", "DS-02", "DS-03", "DS-04", "DS-05")
def test_every_tool_that_ships_is_conformant() -> None:
    assert check(SHIPPED) == []


@pytest.mark.req("CF-04")
def test_every_tool_that_ships_has_a_test_that_calls_it() -> None:
    files = [*(ROOT / "tests/unit").rglob("test_*.py"), ROOT / "examples/test_records.py"]
    tests = "\n".join(file.read_text(encoding="utf-8") for file in files)

    def is_called(made: Tool) -> bool:
        by_name = re.search(rf'(call|said|answer)\("{made.id}"', tests)
        return bool(by_name or (made.body and re.search(rf"\b\w+\.{made.body.fn.__name__}\b", tests)))

    assert [made.id for made in SHIPPED if not is_called(made)] == []


@pytest.mark.req("CF-02")
def test_no_tool_is_exempt_that_takes_input_after_all() -> None:
    found = {
        made.id: made.input_schema.get("properties")
        for name in MODULES
        for made in discover(importlib.import_module(name))
    }

    assert [name for name in INPUT_LESS - INTENTIONALLY_INPUT_LESS if found.get(name, "gone") != {}] == []
