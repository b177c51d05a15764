"""Tools of a workspace, called as an agent calls them."""

from __future__ import annotations

from typing import Any

from handrail import Handrail, Outcome, Principal

ANA = Principal(tenant="acme", user="ana")


class Caller:
    """Calls tools by name."""

    def __init__(self, hr: Handrail) -> None:
        self.hr = hr

    async def call(self, name: str, /, **args: Any) -> Outcome:
        return await self.hr.call(name, args, principal=ANA, source="agent")

    async def done(self, name: str, /, **args: Any) -> Any:
        """The data of a call that must succeed."""
        outcome = await self.call(name, **args)
        assert outcome.status == "completed", outcome.to_model()
        return outcome.result.data

    async def output(self, name: str, /, **args: Any) -> str:
        """What the model reads of a call that must succeed."""
        outcome = await self.call(name, **args)
        assert outcome.status == "completed", outcome.to_model()
        return outcome.to_model()

    async def refused(self, name: str, /, **args: Any) -> tuple[str, str]:
        """The code and the words of a call that must fail."""
        outcome = await self.call(name, **args)
        assert outcome.status in ("failed", "refused"), outcome.to_model()
        return str(outcome.code), str(outcome.result.error)
