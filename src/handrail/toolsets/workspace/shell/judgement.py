"""Judgement: how dangerous a command line is, why, and which part of it says so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Danger = Literal["safe", "moderate", "dangerous"]

_ORDER: tuple[Danger, ...] = ("safe", "moderate", "dangerous")
_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Judgement:
    """A danger, the reason in words, and the part of the command that decided."""

    danger: Danger
    why: str
    part: str = ""

    @property
    def is_safe(self) -> bool:
        return self.danger == "safe"

    def sentence(self) -> str:
        """The reason with the part it speaks of."""
        return f"{self.why}: `{self.part}`" if self.part else self.why

    def within(self, part: str) -> Judgement:
        """The same, said of this part unless it already names one."""
        return self if self.part else Judgement(self.danger, self.why, shown(part))


SAFE = Judgement("safe", "it only reads")


def moderate(why: str, part: str = "") -> Judgement:
    return Judgement("moderate", why, shown(part))


def dangerous(why: str, part: str = "") -> Judgement:
    return Judgement("dangerous", why, shown(part))


def strictest(some: Iterable[Judgement]) -> Judgement:
    """The most dangerous of them; among equals the first. Nothing at all is safe."""
    return max(some, key=lambda one: _ORDER.index(one.danger), default=SAFE)


def shown(part: str) -> str:
    """A part short enough for a sentence."""
    line = " ".join(part.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
