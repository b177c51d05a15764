"""Pins: the same in memory, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from handrail.core.find.pins import MemoryPins, Pin, PinChanges, Pins, compare_pins
from handrail.core.find.visibility import DEFAULT_TENANT_ID as ALL
from handrail.store.pins import StorePins
from tests.contract.backends import KINDS, Backend, backend_of

OLD, NEWER = {"description": "Old."}, {"description": "Newer."}
NEW = {"description": "New \U0001f600 \0 \udc00."}
pytestmark = pytest.mark.req("BY-09")


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest) -> Iterator[Backend]:
    yield from backend_of(request)


class Processes:
    """Pins as one process after the other finds them; in memory it is always the same one."""

    def __init__(self, place: Backend) -> None:
        self._place = place
        self._memory = MemoryPins(place.clock)

    def pins(self) -> Pins:
        db = None if self._place.url is None else self._place.process().db
        return self._memory if db is None else StorePins(db)


async def seen(pins: Pins, tenant: str, told: dict[str, dict[str, str]], trusting: bool = True) -> None:
    await pins.note(tenant, "far", compare_pins(await pins.read(tenant, "far"), told, trusting))


@pytest.mark.fault("F28")
async def test_what_changed_waits_until_it_is_accepted_also_in_another_process(place: Backend) -> None:
    processes = Processes(place)
    await seen(processes.pins(), ALL, {"pay": OLD})
    await seen(processes.pins(), ALL, {"pay": NEW})
    held = (await processes.pins().read(ALL, "far"))["pay"]
    assert (held.accepted, held.held, held.accepted_by) == (OLD, NEW, None)
    (done,) = await processes.pins().accept(ALL, "far", "pay", by="bo")
    assert done == Pin("pay", NEW, None, place.clock.now(), "bo")
    assert await processes.pins().read(ALL, "far") == {"pay": done}
    assert await processes.pins().accept(ALL, "far") == []


async def test_without_trust_nothing_is_accepted_by_being_seen(place: Backend) -> None:
    pins = Processes(place).pins()
    await seen(pins, ALL, {"pay": OLD, "ask": OLD}, trusting=False)
    assert [pin.accepted for pin in (await pins.read(ALL, "far")).values()] == [None, None]
    assert [pin.tool for pin in await pins.accept(ALL, "far", by="bo")] == ["ask", "pay"]


async def test_of_two_who_see_a_tool_first_the_first_one_counts(place: Backend) -> None:
    processes = Processes(place)
    for definition in (OLD, NEW):  # both read before either wrote
        await processes.pins().note(ALL, "far", PinChanges(first=(Pin("pay", definition),)))
    assert (await processes.pins().read(ALL, "far"))["pay"].accepted == OLD


async def test_what_waits_is_the_newest_and_is_over_when_the_server_takes_it_back(place: Backend) -> None:
    pins = Processes(place).pins()
    for told, waiting in ((OLD, None), (NEW, NEW), (NEWER, NEWER), (OLD, None)):
        await seen(pins, ALL, {"pay": told})
        pin = (await pins.read(ALL, "far"))["pay"]
        assert (pin.accepted, pin.held) == (OLD, waiting)


async def test_a_tenant_has_what_holds_for_all_until_it_has_its_own(place: Backend) -> None:
    pins = Processes(place).pins()
    await seen(pins, ALL, {"pay": OLD})
    await seen(pins, "acme", {"pay": OLD, "own": OLD})
    assert (await pins.read("acme", "far")).keys() == {"pay", "own"}
    assert (await pins.read("other", "far")).keys() == {"pay"}
    await seen(pins, "acme", {"pay": NEW})
    assert (await pins.read("acme", "far"))["pay"].held == NEW
    assert (await pins.read("other", "far"))["pay"].held is None
    assert await pins.accept("other", "far") == []
    assert [pin.accepted for pin in await pins.accept("acme", "far", by="ana")] == [NEW]
    assert (await pins.read("other", "far"))["pay"].accepted == OLD


async def test_a_server_that_is_forgotten_is_new(place: Backend) -> None:
    pins = Processes(place).pins()
    await seen(pins, ALL, {"pay": OLD, "ask": OLD})
    assert await pins.forget(ALL, "far") == 2
    assert await pins.read(ALL, "far") == {} and await pins.forget(ALL, "far") == 0
