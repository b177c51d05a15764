"""Open pages hear that something they show has changed, and ask for that part again.

A page has one stream. It is told topics, not content: `approvals`, `runs` (any of the tenant), `mine` (calls
of this person and of agents for them), `topic("call", id)`, `topic("session", id)`, `topic("tool", id)` or
one of a page's own. htmx makes each a DOM event on <body>, so a part of a page that shows a run asks

    hx-get="/runs/ID/part"  hx-trigger="call-… from:body"  hx-swap="outerMorph"

Who may see what is checked there, once. However many pages are open, a process reads a tenant's log once.
Whoever comes back with `Last-Event-ID` is told all its topics if anything happened meanwhile.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from handrail.core.define.principal import Principal
from handrail.core.errors import StorageError
from handrail.core.tell.events import Event, NeedsApproval, Progress, Settled, ToolApproved, ToolCompleted
from handrail.platform import Platform
from handrail.platform.events import FINAL_KINDS
from handrail.store.tool_sessions import ToolSession

_log = logging.getLogger("handrail.web")

_DEBOUNCE = 0.25
"""Seconds in which news are gathered before they are told."""
_HEARTBEAT = 15.0

_RETRY_AFTER = 1.0
"""Seconds after which a log that could not be read is tried again."""

_MAX_TOPICS = 20
"""Topics of one page."""

_MAX_APPROVED_CALLS = 1_000
"""Calls whose end is waited for on cards."""


def topic(kind: str, id: str) -> str:
    """The topic of one thing; ids may hold anything, topics only letters and digits."""
    return f"{kind}-{hashlib.sha256(id.encode()).hexdigest()[:16]}"


def live_url(topics: Iterable[str]) -> str:
    return "/live?" + "&".join(f"on={quote(name, safe='')}" for name in dict.fromkeys(topics))


def parse_number(text: str) -> int | None:
    """The number of an event or a file that somebody sent; None for what is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


class LiveConnection:
    """What one open page is to be told."""

    __slots__ = ("_news", "at", "fresh", "topics", "who")

    def __init__(self, topics: frozenset[str], who: Principal | None, at: int) -> None:
        self.topics = topics
        self.who = who
        self.fresh: set[str] = set()
        self.at = at
        self._news = asyncio.Event()

    def tell(self, topics: Iterable[str], at: int | None = None) -> None:
        news = self.topics.intersection(topics)
        if at is not None:
            self.at = at
        if news:
            self.fresh |= news
            self._news.set()

    async def news(self, seconds: float) -> set[str]:
        """What is new, or nothing after so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._news.wait()
                await asyncio.sleep(_DEBOUNCE)
        self._news.clear()
        news, self.fresh = self.fresh, set()
        return news


class LiveUpdates:
    """The streams of all open pages of a process."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._pages: dict[str, set[LiveConnection]] = {}
        self._readers: dict[str, asyncio.Task[None]] = {}
        self.progress: dict[str, Progress] = {}
        """The newest word of calls that run here, by call id."""
        self._approved: dict[str, None] = {}
        """Calls that people agreed to and that have not ended, the oldest first."""
        self._stop = platform.hr.subscribe(self._hear)
        self._loop: asyncio.AbstractEventLoop | None = None

    def close(self) -> None:
        self._stop()
        for task in self._readers.values():
            task.cancel()

    @property
    def open(self) -> int:
        """How many pages listen."""
        return sum(map(len, self._pages.values()))

    def listeners(self, tenant: str, topic: str) -> list[Principal | None]:
        """Who wants to hear of a topic, once for each page."""
        return [page.who for page in self._pages.get(tenant, ()) if topic in page.topics]

    def tell(self, tenant: str, *topics: str) -> None:
        """Something changed that the log does not tell of. Other processes are not told."""
        for page in self._pages.get(tenant, ()):
            page.tell(topics)

    def answer(self, request: Request, tenant: str, topics: Iterable[str], who: Principal | None) -> Response:
        """The stream of one page."""
        seen = parse_number(request.headers.get("last-event-id", ""))
        chosen = frozenset(list(dict.fromkeys(topics))[:_MAX_TOPICS])
        still = request.scope["state"].get("still")
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        pieces = self._pieces(tenant, chosen, who, seen, still)
        return StreamingResponse(pieces, media_type="text/event-stream", headers=headers)

    async def _pieces(
        self, tenant: str, topics: frozenset[str], who: Principal | None, seen: int | None, still: object
    ) -> AsyncGenerator[str, None]:
        at = await self._platform.events.last_position(tenant)
        page = LiveConnection(topics, who, at)
        self._join(tenant, page)
        closing = asyncio.ensure_future(self._platform.closing.wait())
        closing.add_done_callback(lambda _: page._news.set())
        try:
            if seen is not None and seen != at:
                page.tell(topics)
            yield f"id: {at}\nevent: hello\ndata:\n\n"
            while not self._platform.closing.is_set():
                fresh = await page.news(_HEARTBEAT)
                if callable(still) and not await still():
                    return
                if not fresh:
                    yield ": still here\n\n"
                for name in sorted(fresh):
                    yield f"id: {page.at}\nevent: {name}\ndata:\n\n"
        finally:
            closing.cancel()
            self._leave(tenant, page)

    def _join(self, tenant: str, page: LiveConnection) -> None:
        self._loop = asyncio.get_running_loop()
        pages = self._pages.setdefault(tenant, set())
        pages.add(page)
        if tenant not in self._readers:
            self._readers[tenant] = asyncio.create_task(self._read(tenant, page.at))

    def _leave(self, tenant: str, page: LiveConnection) -> None:
        pages = self._pages[tenant]
        pages.discard(page)
        if not pages:
            del self._pages[tenant]
            self._readers.pop(tenant).cancel()

    async def _read(self, tenant: str, after: int) -> None:
        """Follow a tenant's log for all its open pages; when it could not be read, from there on again."""
        while True:
            try:
                async with aclosing(self._platform.hr.events(Principal(tenant), after=after)) as events:
                    async for event in events:
                        after = event.position
                        self._pass_on(tenant, event)
            except StorageError:
                _log.exception("the log of a tenant could not be followed; it is tried again")
                await asyncio.sleep(_RETRY_AFTER)

    def _pass_on(self, tenant: str, event: Event) -> None:
        topics = topics_of(event)
        if self._ends_an_approved(event):
            topics.append("approvals")
        who = event.call.principal
        for page in self._pages.get(tenant, ()):
            page.tell(("mine", *topics) if _is_behind(page.who, who) else topics, event.position)

    def _ends_an_approved(self, event: Event) -> bool:
        """Whether it is the end of a call that somebody agreed to: their card says what came of it."""
        if isinstance(event, ToolApproved):
            self._approved[event.call_id] = None
            if len(self._approved) > _MAX_APPROVED_CALLS:
                del self._approved[next(iter(self._approved))]
        if event.kind not in FINAL_KINDS or event.call_id not in self._approved:
            return False
        del self._approved[event.call_id]
        return True

    def _hear(self, event: Event) -> None:
        """What is shown and not stored; it may come from any thread."""
        if isinstance(event, Progress):
            self.progress[event.call_id] = event
            if self._loop is not None and event.tenant in self._pages:
                self._loop.call_soon_threadsafe(self.tell, event.tenant, topic("call", event.call_id))
        elif isinstance(event, Settled) or event.kind in FINAL_KINDS:
            self.progress.pop(event.call_id, None)


def topics_of(event: Event) -> list[str]:
    """What an event of the log is news for."""
    topics = [topic("call", event.call_id), topic("session", event.session)]
    if event.kind != "chunk":
        topics += ["runs", topic("tool", event.tool)]
    answered = isinstance(event, ToolCompleted) and event.run_id is None  # by a person in its place
    if answered or isinstance(event, NeedsApproval | ToolApproved) or event.kind in ("cancelled", "failed"):
        topics.append("approvals")
    return topics


def _is_behind(reader: Principal | None, caller: Principal | None) -> bool:
    return (
        reader is not None and caller is not None and caller.user is not None and reader.user == caller.user
    )


_POLL_EVERY = 1.0

_POLLS_WITHOUT_LISTENER = 30
"""Looks without a listener after which a session is left alone: a page that opens takes a moment."""


def tool_session_topic(session: str) -> str:
    """The topic of a tool session."""
    return topic("tool-session", session)


@dataclass(slots=True)
class _WatchedSession:
    session: ToolSession
    revision: int
    alone: int = 0


class ToolSessionWatcher:
    """The tool sessions that pages of this process show."""

    def __init__(self, platform: Platform, live: LiveUpdates) -> None:
        self._platform = platform
        self._live = live
        self._watched: dict[tuple[str, str], _WatchedSession] = {}
        self._task: asyncio.Task[None] | None = None

    def watch(self, session: ToolSession) -> None:
        """A page shows this session as it stands now."""
        key = (session.tenant_id, session.id)
        watched = self._watched.setdefault(key, _WatchedSession(session, session.revision))
        watched.alone = 0
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._look())

    def tell(self, session: ToolSession) -> None:
        """Something in a session was changed here."""
        self._live.tell(session.tenant_id, tool_session_topic(session.id))

    async def _look(self) -> None:
        while self._watched and not self._platform.closing.is_set():
            await asyncio.sleep(_POLL_EVERY)
            for key, watched in list(self._watched.items()):
                has_listener = self._live.listeners(key[0], tool_session_topic(key[1]))
                watched.alone = 0 if has_listener else watched.alone + 1
                if watched.alone > _POLLS_WITHOUT_LISTENER:
                    del self._watched[key]
                else:
                    await self._compare(watched)

    async def _compare(self, watched: _WatchedSession) -> None:
        try:
            revision = await self._platform.require_services().tool_sessions.revision(watched.session)
        except Exception:
            _log.exception("a tool session could not be looked at; it is tried again")
            return
        if revision is not None and revision != watched.revision:
            watched.revision = revision
            self.tell(watched.session)
