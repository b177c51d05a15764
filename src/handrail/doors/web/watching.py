"""Watching: what several people fill in together may change in any process; its open pages hear of it here.

A session is looked at once a second while some page of this process listens, however many do.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from handrail.doors.web.live import Live, topic
from handrail.platform import Platform
from handrail.store.tool_sessions import ToolSession

_log = logging.getLogger("handrail.web")
_EVERY = 1.0
_PATIENCE = 30
"""Looks without a listener after which a session is left alone: a page that opens takes a moment."""


def news_of(session: str) -> str:
    """The topic of a tool session."""
    return topic("tool-session", session)


@dataclass(slots=True)
class _Watched:
    session: ToolSession
    revision: int
    alone: int = 0


class Watching:
    """The tool sessions that pages of this process show."""

    def __init__(self, platform: Platform, live: Live) -> None:
        self._platform = platform
        self._live = live
        self._watched: dict[tuple[str, str], _Watched] = {}
        self._task: asyncio.Task[None] | None = None

    def watch(self, session: ToolSession) -> None:
        """A page shows this session as it stands now."""
        place = (session.tenant_id, session.id)
        known = self._watched.get(place)
        if known is None:
            self._watched[place] = _Watched(session, session.revision)
        else:
            known.alone = 0
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._look())

    def tell(self, session: ToolSession) -> None:
        """Something in a session was changed here."""
        self._live.tell(session.tenant_id, news_of(session.id))

    async def _look(self) -> None:
        while self._watched and not self._platform.closing.is_set():
            await asyncio.sleep(_EVERY)
            for place, one in list(self._watched.items()):
                one.alone = 0 if self._live.listens(place[0], news_of(place[1])) else one.alone + 1
                if one.alone > _PATIENCE:
                    del self._watched[place]
                else:
                    await self._compare(one)

    async def _compare(self, one: _Watched) -> None:
        assert self._platform.offices is not None
        try:
            found = await self._platform.offices.tool_sessions.revision(one.session)
        except Exception:
            _log.exception("a tool session could not be looked at; it is tried again")
            return
        if found is not None and found != one.revision:
            one.revision = found
            self.tell(one.session)
