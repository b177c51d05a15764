"""People: what those are called that a page speaks of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from handrail.doors.web.routing import Reader
from handrail.doors.web.story.voice import Voice
from handrail.store.users import members


async def voice_of(
    reader: Reader, users: Iterable[str | None], deciders: Mapping[str, str] | None = None
) -> Voice:
    """How to speak to this reader of these people."""
    who = reader.who
    wanted = {*users, *(deciders or {}).values()} - {None, who.user}
    offices = reader.platform.offices
    known = [one for one in wanted if one is not None]
    names = {} if offices is None or not known else await offices.people.names(who.tenant, known)
    return Voice(who.user if who.agent is None else None, names, deciders or {})


async def whose(reader: Reader, text: str) -> tuple[str | None, str | None]:
    """The user or the agent that somebody means by what they typed: a name, an address, an id, or `me`."""
    words = text.strip()
    if not words:
        return None, None
    if words.casefold() in ("me", "you", "mine"):
        return reader.who.user, None
    offices, tenant = reader.platform.offices, reader.who.tenant
    if words.casefold().startswith("agent "):
        return None, words[6:].strip(' "“”')
    if offices is None:
        return None, words
    wanted = words.casefold()
    found = await offices.db.read(tenant, lambda conn: members(conn, tenant))
    for one, _ in found:
        if wanted in (one.id.casefold(), one.name.casefold(), one.email.casefold()):
            return one.id, None
    return None, words
