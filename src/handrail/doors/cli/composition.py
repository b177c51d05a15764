"""Composition: what the app hands to the command line, so that this door imports no other.

It is made before `handrail --help` answers, so nothing is loaded here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from handrail.core.define.principal import Principal
    from handrail.core.define.tool import Tool
    from handrail.core.guard.approval_request import Approver
    from handrail.engine.handrail import Handrail
    from handrail.platform import Platform
    from handrail.platform.server import Doors
    from handrail.settings import Settings


class HandrailFactory(Protocol):
    """Makes a Handrail of settings and tools."""

    def __call__(
        self,
        settings: Settings,
        tools: Iterable[Tool],
        agent: str | None,
        approver: Approver | None,
        /,
        *,
        worker: bool = False,
    ) -> Handrail: ...


class ServeStdio(Protocol):
    """Serves MCP to the program at the other end of standard input and output, until it leaves."""

    async def __call__(
        self, platform: Platform, who: Callable[[], Awaitable[Principal]], out: TextIO, *, hold: float
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class Composition:
    """How commands get at what other packages make; a command finds it as `ctx.obj`."""

    open_handrail: HandrailFactory
    build_doors: Callable[[Platform, float], Doors]
    """The doors of a server; the number is the seconds for which a call over MCP waits for a person."""
    serve_stdio: ServeStdio
