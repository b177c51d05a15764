"""Visit: who is at the door with one request, and whether they are still there."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from handrail.core.define.principal import Principal


@dataclass(slots=True)
class Visit:
    """One request that came over HTTP; a server's handler finds it as `ctx.request`."""

    principal: Principal
    key: str | None = None
    """The key that was shown, for those who stay long enough to be asked again."""
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when whoever asked has left."""


def bearer(authorization: str | None) -> str | None:
    """The key in an Authorization header."""
    kind, _, key = (authorization or "").partition(" ")
    return key.strip() or None if kind.lower() == "bearer" else None
