"""Pins: which definition of a foreign tool was accepted. What changed since waits for somebody's yes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from handrail.core.clock import Clock
from handrail.core.define.schema import digest_of
from handrail.core.find.visibility import DEFAULT_TENANT_ID

MAX_PINS = 20_000
"""Tools of one server that are remembered."""
Definition = Mapping[str, Any]
"""What a server says of a tool, as JSON data."""


@dataclass(frozen=True, slots=True)
class Pin:
    """What is remembered of one tool of a server."""

    tool: str
    """The server's own name for it."""
    accepted: Definition | None = None
    """What may be called; None where nothing was accepted yet."""
    held: Definition | None = None
    """What the server says now, where it is something else. It cannot be called."""
    accepted_at: float | None = None
    accepted_by: str | None = None
    """None where the first sight of it was trusted."""


@dataclass(frozen=True, slots=True)
class PinChanges:
    """What is to be remembered after a server told its tools."""

    first: tuple[Pin, ...] = ()
    """Seen for the first time, and trusted."""
    held: tuple[Pin, ...] = ()
    """Other than accepted, or new where nothing is trusted unseen."""
    back: tuple[str, ...] = ()
    """Held before, and as accepted again."""

    def __bool__(self) -> bool:
        return bool(self.first or self.held or self.back)


class Pins(Protocol):
    """Where pins are kept. What stands under the default tenant holds for every tenant without its own."""

    async def read(self, tenant: str, server: str, /) -> dict[str, Pin]: ...

    async def note(self, tenant: str, server: str, seen: PinChanges, /) -> None:
        """Remember what was seen. What is accepted already stays so, whoever saw something first."""
        ...

    async def accept(
        self, tenant: str, server: str, tool: str | None = None, *, by: str | None = None
    ) -> list[Pin]:
        """Accept what is held, of one tool or of all; the pins as they are now."""
        ...

    async def forget(self, tenant: str, server: str, /) -> int:
        """Forget a server; how many of its tools were known."""
        ...


def compare_pins(pins: Mapping[str, Pin], told: Mapping[str, Definition], trusting: bool) -> PinChanges:
    """What the pins have to learn from what a server tells. A tool that is gone keeps its pin.

    A server that makes up new names all the time is not remembered without end: what is too much is not
    accepted, and waits for somebody who forgets the old ones.
    """
    first: list[Pin] = []
    held: list[Pin] = []
    back: list[str] = []
    room = MAX_PINS - len(pins)
    for name, definition in told.items():
        pin = pins.get(name)
        if pin is None and len(first) + len(held) >= room:
            continue
        if pin is None and trusting:
            first.append(Pin(name, definition))
        elif is_accepted(pin, definition):
            if pin is not None and pin.held is not None:
                back.append(name)
        elif pin is None or pin.held is None or digest_of(pin.held) != digest_of(definition):
            held.append(Pin(name, None if pin is None else pin.accepted, definition))
    return PinChanges(tuple(first), tuple(held), tuple(back))


def is_accepted(pin: Pin | None, definition: Definition) -> bool:
    """Whether this very definition was accepted."""
    return pin is not None and pin.accepted is not None and digest_of(pin.accepted) == digest_of(definition)


class MemoryPins:
    """Pins of one process."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or Clock()
        self._pins: dict[tuple[str, str], dict[str, Pin]] = {}

    async def read(self, tenant: str, server: str, /) -> dict[str, Pin]:
        return {**self._pins.get((DEFAULT_TENANT_ID, server), {}), **self._pins.get((tenant, server), {})}

    async def note(self, tenant: str, server: str, seen: PinChanges, /) -> None:
        pins = self._pins.setdefault((tenant, server), {})
        for pin in seen.first:
            pins.setdefault(pin.tool, replace(pin, accepted_at=self._clock.now()))
        for pin in seen.held:
            pins[pin.tool] = replace(pins.get(pin.tool, pin), held=pin.held)
        for name in seen.back:
            if name in pins:
                pins[name] = replace(pins[name], held=None)

    async def accept(
        self, tenant: str, server: str, tool: str | None = None, *, by: str | None = None
    ) -> list[Pin]:
        pins = self._pins.get((tenant, server), {})
        wanted = [pins[name] for name in sorted(pins) if tool in (None, name) and pins[name].held is not None]
        now = self._clock.now()
        done = [Pin(pin.tool, pin.held, None, now, by) for pin in wanted]
        pins.update({pin.tool: pin for pin in done})
        return done

    async def forget(self, tenant: str, server: str, /) -> int:
        return len(self._pins.pop((tenant, server), {}))
