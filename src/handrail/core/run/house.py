"""House: everything a call meets on its way, as ports."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from handrail.core.clock import Clock
from handrail.core.define.call import Call
from handrail.core.define.context import Context, Host
from handrail.core.define.result import Result
from handrail.core.define.tool import InitContext, Tool
from handrail.core.define.toolset import Toolset
from handrail.core.find.registry import Registry
from handrail.core.guard.approval import ApprovalBook, Approver, Standing
from handrail.core.guard.claims import Claims
from handrail.core.guard.guard import Guard
from handrail.core.guard.keys import Keys
from handrail.core.guard.plan import Plan
from handrail.core.run.invoke import Workplace
from handrail.core.run.running import Running
from handrail.core.tell.teller import Teller


class Hook(Protocol):
    """A stage that toolsets add around bodies: caches, change tracking, syntax checks."""

    async def before(self, tool: Tool, values: Any, ctx: Context, /) -> Result | None:
        """A result to use instead of running the body, or None."""
        ...

    async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
        """The result, perhaps with a warning added; called for every body that ran."""
        ...


Secrets = Callable[[str, Any], str | None]
"""(name, principal) -> the secret, or None."""


class LastResults:
    """The newest result of each tool, by tenant."""

    def __init__(self, keep: int = 10_000) -> None:
        self._keep = keep
        self._results: OrderedDict[tuple[str, str], Result] = OrderedDict()

    def put(self, tenant: str, tool: str, result: Result) -> None:
        self._results[tenant, tool] = result
        if len(self._results) > self._keep:
            self._results.popitem(last=False)

    def get(self, tenant: str, tool: str) -> Result | None:
        return self._results.get((tenant, tool))


@dataclass(slots=True)
class House:
    """The ports and settings of one Handrail."""

    registry: Registry
    guard: Guard
    teller: Teller
    book: ApprovalBook
    claims: Claims
    keys: Keys
    plan: Plan
    host: Host
    place: Workplace
    clock: Clock
    init: InitContext
    toolsets: tuple[Toolset, ...] = ()
    approver: Approver | None = None
    hooks: tuple[Hook, ...] = ()
    secrets: Secrets | None = None
    create_context: Callable[[str, str], Mapping[str, Any]] | None = None
    on_result: Callable[[Result], None] | None = None
    similar: Callable[[Call], Awaitable[list[str]]] | None = None
    """Names this principal may see that are near the one it asked for."""
    repairing: bool = True
    timeout: float | None = None
    approval_lifetime: float | None = None
    standing: Standing = field(default_factory=Standing)
    running: dict[str, Running] = field(default_factory=dict)
    last_results: LastResults = field(default_factory=LastResults)
