"""House: everything a call meets on its way, as ports."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol
from weakref import WeakKeyDictionary

from handrail.core.clock import Clock
from handrail.core.define.call import Call
from handrail.core.define.context import Host
from handrail.core.define.principal import Principal
from handrail.core.define.retry import Retry
from handrail.core.define.tool import InitContext, Tool
from handrail.core.define.toolset import Toolset
from handrail.core.find.registry import Registry
from handrail.core.find.resolver import Resolver
from handrail.core.guard.approval import Approver
from handrail.core.guard.book import ApprovalBook
from handrail.core.guard.claims import Claims
from handrail.core.guard.guard import Guard
from handrail.core.guard.keys import Keys
from handrail.core.guard.plan import Plans
from handrail.core.guard.standing import MemoryStanding, Standing
from handrail.core.listeners import Listeners
from handrail.core.run.hooks import Watchers
from handrail.core.tell.events import ToolStarted
from handrail.core.tell.letters import DeadLetters, MemoryDeadLetters
from handrail.core.tell.teller import Teller


class Interruptible(Protocol):
    """A call on its way, as whoever cancels it sees it."""

    @property
    def loop(self) -> asyncio.AbstractEventLoop: ...
    def interrupt(self, ending: Literal["cancelled", "timeout"], reason: str) -> None: ...
    async def over(self, seconds: float) -> bool: ...
    def is_here(self) -> bool: ...
    def doubt(self) -> None: ...

    secrets: set[str] | None


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where sync bodies run and how long any body gets to heed an interruption."""

    threads: Callable[[], Executor]
    grace: float = 5.0


Secrets = Callable[[str, Any], str | None]
"""(name, principal) -> the secret, or None."""


@dataclass(slots=True)
class House:
    """The ports and settings of one Handrail."""

    registry: Registry
    guard: Guard
    teller: Teller
    book: ApprovalBook
    claims: Claims
    keys: Keys
    plans: Plans
    host: Host
    place: Workplace
    clock: Clock
    init: InitContext
    toolsets: tuple[Toolset, ...] = ()
    resolver: Resolver | None = None
    """What is stored of tools by tenant; None where nothing is, and everybody has the registry's."""
    approver: Approver | None = None
    watchers: Watchers | None = None
    """The hooks and safety checks; None without any."""
    secrets: Secrets | None = None
    create_context: Callable[[str, str], Mapping[str, Any]] | None = None
    similar: Callable[[Call], Awaitable[list[str]]] | None = None
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
    letters: DeadLetters = field(default_factory=MemoryDeadLetters)
    standing: Standing = field(default_factory=MemoryStanding)
    running: dict[tuple[str, str], Interruptible] = field(default_factory=dict)
    answering: dict[tuple[str, str], ToolStarted | None] = field(default_factory=dict)
    """Calls whose caller waits for their first row with the answer: a read need not wait before it."""
    on_result: Listeners = field(default_factory=Listeners)
