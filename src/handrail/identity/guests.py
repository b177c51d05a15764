"""Guests: people without an account who came to one tool session by its link.

What a guest holds is a note that this house sealed: which session, by which link they came, and as whom. It
opens that session and nothing else, and only while the link lives by which they came.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.errors import UsageError
from handrail.store.sealing import Seal, SealError
from handrail.store.tool_sessions import ToolSession

LONGEST_NAME = 60
_LONGEST_NOTE = 2_000


@dataclass(frozen=True, slots=True)
class Participant:
    """Somebody who may submit to a session, and under whose authority the tool runs for them."""

    id: str
    name: str
    principal: Principal
    guest: bool = False


@dataclass(frozen=True, slots=True)
class Guest:
    """What a note says."""

    tenant: str
    session: str
    share: str
    """The link by which they came."""
    id: str
    name: str

    def belongs_to(self, session: ToolSession, now: float) -> bool:
        """Whether they may still be in this session: its link is the one they came by, and lives."""
        here = (session.tenant_id, session.id, session.share_id)
        return here == (self.tenant, self.session, self.share) and session.is_shared(now)

    def participant(self, tool: Tool) -> Participant:
        """Who they are to the guard: nobody of the tenant's people, with this one tool to read with.

        The permission that the tool requires was the maker's of the session, who shares it.
        """
        holds = [] if tool.requires is None else [tool.requires]
        who = Principal(
            self.tenant, self.id, permissions=holds, key="service", scope=[tool.id], ceiling="read"
        )
        return Participant(self.id, self.name, who, guest=True)


def new_guest(session: ToolSession, name: str) -> Guest:
    """Somebody who joins under a name, by the link that the session has now."""
    if session.share_id is None:
        raise UsageError("This session is not shared.")
    said = display_name(name)
    return Guest(session.tenant_id, session.id, session.share_id, f"guest:{secrets.token_hex(8)}", said)


def display_name(name: str) -> str:
    """A name as others will see it."""
    said = " ".join(name.split())
    if not said:
        raise UsageError("Type the name that the others will see.")
    if len(said) > LONGEST_NAME:
        raise UsageError(f"A name has {LONGEST_NAME} characters at most. Yours has {len(said)}.")
    if not said.isprintable():
        raise UsageError("The name has characters in it that nobody can see. Type it again.")
    return said


def note_of(guest: Guest, seal: Seal) -> str:
    """The note that a guest brings back."""
    said = [guest.session, guest.share, guest.id, guest.name]
    return f"{guest.tenant}.{seal.close(guest.tenant, said, _about(guest.session))}"


def read_note(note: str, session: str, seal: Seal) -> Guest | None:
    """The guest of this session who holds the note; None for anything else."""
    tenant, dot, sealed = note.partition(".")
    if not tenant or not dot or len(note) > _LONGEST_NOTE:
        return None
    try:
        said = seal.open(tenant, sealed, _about(session))
        return Guest(tenant, *said)
    except (SealError, TypeError, ValueError):
        return None


def _about(session: str) -> str:
    return f"guest of {session}"
