"""Entity options: what pickers offer for things of a type, from whatever store has them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from handrail.core.define.principal import Principal


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to pick: what is sent, and what a person reads."""

    value: str
    label: str = ""

    def to_dict(self) -> dict[str, str]:
        return {"value": self.value, "label": self.label or self.value}


Find = Callable[[Principal, str, int], Awaitable[Sequence[Option]]]
"""(who picks, what they typed, how many) -> things that this person may see, the best first."""

_finds: dict[str, Find] = {}


def register_options(type: str, find: Find) -> None:
    """Let pickers of an entity type choose from what `find` finds: `register_options("record", find)`."""
    if not type:
        raise ValueError("An entity type has a name, such as 'record'")
    _finds[type] = find


def options_of_type(type: str) -> Find | None:
    """What finds things of a type, if anything does."""
    return _finds.get(type)


def forget_options(type: str) -> None:
    """Let pickers of a type take any text again."""
    _finds.pop(type, None)
