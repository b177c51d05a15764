"""Choosing: how ripgrep is told which names of files to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Chosen(NamedTuple):
    """Options, or rules to ignore by, that leave files of certain names."""

    options: tuple[str, ...] = ()
    rules: str = ""

    @property
    def exactly(self) -> bool:
        """Whether no others are left: a rule of the project may bring a file back."""
        return not self.rules


def chosen(names: Sequence[str] | None) -> Chosen:
    """What leaves the files whose names fit one of these patterns.

    A type is the fastest way, but fits no name that ends with a dot.
    """
    if not names or "*" in names:
        return Chosen()
    if any(name.endswith((".", "*")) for name in names):
        return Chosen(rules="".join(["*\n", "!*/\n", *(f"!**/{_ending(name)}\n" for name in names)]))
    return Chosen(options=(*(f"--type-add=handrail:{name}" for name in names), "--type=handrail"))


def _ending(name: str) -> str:
    """A pattern as it fits a dot at the end, which ripgrep knows in a set alone."""
    return f"{name[:-1]}[.]" if name.endswith(".") else name
