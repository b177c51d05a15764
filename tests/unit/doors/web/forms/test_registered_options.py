"""Pickers look through whatever store was registered for a type, as whoever picks may see it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from handrail import Principal
from handrail.doors.web.forms.options import RegisteredOptions
from handrail.ext.forms import Option, forget_options, register_options
from handrail.toolsets.demo.records import STORE, find_records

ANA, EVA = Principal("acme", "ana"), Principal("other", "eva")


@pytest.fixture
def record() -> Iterator[None]:
    STORE.fill("acme")
    register_options("record", find_records)
    yield
    register_options("record", find_records)


@pytest.mark.req("UI-08")
async def test_a_type_is_looked_through_for_whoever_picks(record: None) -> None:
    found = await RegisteredOptions(ANA).search("record", "ced", 10)
    assert found == [Option("rec-003", "Cedar Labs")]
    assert await RegisteredOptions(EVA).search("record", "ced", 10) == []
    assert len(await RegisteredOptions(ANA).search("record", "", 2)) == 2


async def test_what_finds_too_much_is_cut_and_what_breaks_finds_nothing(record: None) -> None:
    async def many(who: Principal, text: str, limit: int) -> list[Option]:
        return [Option(str(number)) for number in range(100)]

    async def broken(who: Principal, text: str, limit: int) -> list[Option]:
        raise OSError("the store is away")

    register_options("record", many)
    assert len(await RegisteredOptions(ANA).search("record", "", 5)) == 5
    register_options("record", broken)
    assert await RegisteredOptions(ANA).search("record", "", 5) == []


async def test_a_type_that_nobody_finds_has_no_options(record: None) -> None:
    forget_options("record")
    assert await RegisteredOptions(ANA).search("record", "", 5) == []
    with pytest.raises(ValueError, match="has a name"):
        register_options("", find_records)
