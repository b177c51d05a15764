"""Runtime: everything a call meets on its way, as ports."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol
from weakref import WeakKeyDictionary

from handrail.core.clock import Clock
from handrail.core.define.context import Host
from handrail.core.define.levels import Source
from handrail.core.define.principal import Principal
from handrail.core.define.retry import Retry
from handrail.core.define.tool import InitContext, Tool
from handrail.core.find.registry import Registry
from handrail.core.find.toolsets import Toolset
from handrail.core.find.visibility import TenantViewResolver
from handrail.core.guard.approval_request import Approver
from handrail.core.guard.approval_store import ApprovalStore, MemoryStandingApprovals, StandingApprovals
from handrail.core.guard.claims import Claims
from handrail.core.guard.guard import Guard
from handrail.core.guard.idempotency import IdempotencyKeys
from handrail.core.guard.plans import Plans
from handrail.core.listeners import Listeners
from handrail.core.run.hooks import Hooks
from handrail.core.tell.dead_letters import DeadLetters, MemoryDeadLetters
from handrail.core.tell.teller import Teller


class RunningCall(Protocol):
    """A call on its way, as whoever cancels it sees it."""

    @property
    def loop(self) -> asyncio.AbstractEventLoop: ...
    def interrupt(self, ending: Literal["cancelled", "timeout"], reason: str) -> None: ...
    async def over(self, seconds: float) -> bool: ...
    def is_here(self) -> bool: ...
    def doubt(self) -> None: ...

    secrets: set[str] | None


@dataclass(frozen=True, slots=True)
class BodyExecution:
    """Where sync bodies run and how long any body gets to heed an interruption."""

    threads: Callable[[], Executor]
    grace: float = 5.0


Secrets = Callable[[str, Any], str | None]
"""(name, principal) -> the secret, or None."""


@dataclass(slots=True)
class Runtime:
    """The ports and settings of one Handrail."""

    registry: Registry
    guard: Guard
    teller: Teller
    approvals: ApprovalStore
    claims: Claims
    keys: IdempotencyKeys
    plans: Plans
    host: Host
    execution: BodyExecution
    clock: Clock
    init: InitContext
    toolsets: tuple[Toolset, ...] = ()
    resolver: TenantViewResolver | None = None
    """What is stored of tools by tenant; None where nothing is, and everybody has the registry's."""
    approver: Approver | None = None
    watchers: Hooks | None = None
    """The hooks and safety checks; None without any."""
    secrets: Secrets | None = None
    create_context: Callable[[str, str], Mapping[str, Any]] | None = None
    similar: Callable[[str, Principal, Source], Awaitable[list[str]]] | None = None
    """Names this principal may see that are near the one it asked for."""
    repairing: bool = True
    timeout: float | None = None
    retry: Retry | None = None
    """For tools that say nothing of their own."""
    approval_lifetime: float | None = None
    nobody: Principal | None = field(default_factory=Principal.local)
    """Who calls when nobody is named; None refuses."""
    initialised: WeakKeyDictionary[Tool, Tool] = field(default_factory=WeakKeyDictionary)
    """What became of tools that waited for their initialiser, also those no registry holds."""
    dead_letters: DeadLetters = field(default_factory=MemoryDeadLetters)
    standing: StandingApprovals = field(default_factory=MemoryStandingApprovals)
    running: dict[tuple[str, str], RunningCall] = field(default_factory=dict)
    groups_reads: bool = False
    """Whether the log writes both rows of a read as one group, so that waiting once is enough."""
    last_loop: tuple[int, asyncio.AbstractEventLoop | None] = (0, None)
    """The thread and the loop of the newest call. To find its task, asking the loop itself is three times as
    fast as asking for the running one; the pair is replaced as a whole, since threads share it."""
    on_result: Listeners = field(default_factory=Listeners)
