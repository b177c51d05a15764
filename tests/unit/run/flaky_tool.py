"""A body that fails a number of times."""

from __future__ import annotations

from typing import Any

from handrail import Context, Policy, Principal, Retry, Tool, tool

RETRY_WITHOUT_PAUSE = Retry(attempts=3, first=0)
WITHOUT_ASKING = Policy(approval_mode="policy")
ANA = Principal(tenant="acme", user="ana")


class FlakyTool:
    """A body that fails a number of times."""

    def __init__(self, *failures: Any) -> None:
        self.failures = list(failures)
        self.seen: list[tuple[str, str, str]] = []

    def tool(self, **options: Any) -> Tool:
        @tool("sky.read", **{"level": "read", "retry": RETRY_WITHOUT_PAUSE, **options})
        async def read(*, ctx: Context) -> Any:
            """Read the sky."""
            self.seen.append((ctx.call_id, ctx.run_id, ctx.idempotency_key))
            if self.failures:
                failure = self.failures.pop(0)
                if isinstance(failure, BaseException):
                    raise failure
                return failure
            return "blue"

        return read
