"""What the drivers of the bridges share: one call of a model, made in the process of the library."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import Any

from handrail import Outcome
from handrail.core.define.levels import Source
from handrail.ext.tools import wire_name
from tests.parity.cases import Case
from tests.parity.compare import Events, Observation
from tests.parity.recorded_handrail import RecordedHandrail

ID = "call_1"
"""What a provider calls its one call."""
PICTURE = {"name": "dot.png", "mime": "image/png", "base64": "iVBORw=="}
"""The one attachment of the table, as a provider gets it."""


class Bridge(ABC):
    """A model's call through one bridge."""

    name: str
    source: Source = "agent"

    def __init__(self, world: RecordedHandrail) -> None:
        self.world = world

    def spelled(self, tool: str) -> str:
        return wire_name(tool)

    def keyed(self, key: str) -> str:
        return f"{key}:{ID}"  # of its session

    async def ask(self, case: Case, told: int) -> Observation:
        calling = asyncio.create_task(self.call(case, case.args))
        if case.cancel:
            await self.world.until_started()
            calling.cancel()
            await asyncio.wait({calling})
            await self.world.until_ended()
            return Observation(self.world.take(), None, "the caller was cancelled")
        answer = await calling
        if case.again is not None:
            answer = await self.call(case, case.again)
        if case.decide is not None:
            answer = await self.decided(case, answer)
        return Observation(self.world.take(), answer)

    def carries(self, outcome: Outcome, case: Case, events: Events) -> Any:
        return None if case.cancel else self.told(outcome)

    @abstractmethod
    async def call(self, case: Case, args: Any) -> Any:
        """What the model is told."""

    @abstractmethod
    def told(self, outcome: Outcome) -> Any:
        """What it must be told."""

    async def decided(self, case: Case, answer: Any) -> Any:
        """What the model is told once somebody has decided."""
        raise NotImplementedError
