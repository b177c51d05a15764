"""What is known of one request on its way to a server, and the errors that can come of it."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class RequestAttempt:
    """One request. The transport writes down here what the protocol's errors do not tell."""

    arrived: bool = False
    """Whether it may have reached the server."""
    lost: str | None = None
    """Why no answer came, where that is known."""
    too_large: bool = False
    """Whether the answer came, and was longer than anybody reads."""
    status: int | None = None
    """What the web server answered."""


class ServerUnreachable(Exception):
    """The server cannot be reached; nothing was sent."""


class ConnectionLost(Exception):
    """The connection ended before an answer came."""

    def __init__(self, why: str, arrived: bool) -> None:
        super().__init__(why)
        self.arrived = arrived
        """Whether the request may have reached the server."""


class ServerRefused(Exception):
    """The server answered with an error in place of a result. Its words are data."""


class UnusableAnswer(Exception):
    """The server did what was asked, but its answer cannot be used."""


class HeaderMismatch(Exception):
    """The server wants the call in another shape than it told."""


current_attempt: ContextVar[RequestAttempt | None] = ContextVar("handrail_mcp_attempt", default=None)
"""The request at hand. A transport runs in the context of whoever sends."""
