"""A model that says what is written down, pass by pass: the same each time, and without a network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Reply:
    """What a model says in one pass."""

    text: str
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    """Tools and arguments; none when it is done."""


@dataclass
class ScriptedModel:
    """In the place of a real one, which would read the prompt and the tools."""

    script: Iterable[Reply]
    prompts: list[str] = field(default_factory=list)
    """What it was given, to look at afterwards."""
    offered: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._replies = iter(self.script)

    async def reply(self, prompt: str, tools: list[dict[str, Any]]) -> Reply:
        self.prompts.append(prompt)
        self.offered = [tool["function"]["name"] for tool in tools]
        return next(self._replies, Reply("I am done."))


READ_MODULE = ("file_read", {"path": "prices.py"})
READ_TESTS = ("file_read", {"path": "test_prices.py"})
RUN_TESTS: tuple[str, dict[str, Any]] = ("tests_run", {})
REPAIR = (
    "file_edit",
    {"path": "prices.py", "old": "price - percent", "new": "price * (1 - percent / 100)"},
)

SCRIPT = (
    Reply("I look around.", (("file_list", {"suffix": ".py"}), READ_MODULE, READ_TESTS)),
    Reply("What do the tests say? I also want the module, again.", (RUN_TESTS, READ_MODULE)),
    Reply("It subtracts a percentage as if it were money. I repair it.", (REPAIR,)),
    Reply("Is it right now?", (RUN_TESTS, READ_MODULE)),
    Reply("Let me be quite sure.", (RUN_TESTS, READ_MODULE)),
)
