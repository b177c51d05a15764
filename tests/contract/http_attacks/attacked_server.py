"""Two tenants who share one server that really listens, and everything that each of them has."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import ssl
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import httpx
from fastapi import FastAPI

from handrail import Handrail, Principal, ToolError, tool
from handrail.app import build_doors
from handrail.core.define.call import BoundCall
from handrail.core.define.names import slug_of
from handrail.core.find.visibility import row_slug
from handrail.core.guard.plans import PlannedCall
from handrail.doors.http.api import build_api
from handrail.identity.permissions import BUILT_IN_ROLES, console_principal
from handrail.identity.services import Services
from handrail.platform import AuthBackend, Platform, platform_of, sse
from handrail.platform.middleware import SESSION_COOKIE, RequestLimits, SecurityMiddleware
from handrail.platform.server import DoorRouter, LimitedHttpProtocol
from handrail.store.encryption import Seal
from handrail.store.secrets import set_secret
from tests.harness.asgi_server import serve_app

T = TypeVar("T")
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients on loopback: to load the world's certificates for each of them takes long."""
HERE, THERE = "here", "there"
"""The tenant whose people attack, and the one that has what they want."""
ROLES = (*BUILT_IN_ROLES, "agent", "nobody")
"""Everybody who may come: each built-in role, a key that holds nothing, and whoever shows none."""


@tool("echo.say", level="read")
async def say(text: str = "") -> str:
    """Say something."""
    return text


@tool("echo.count", level="read")
async def count(whole: int = 0, broken: float = 0.0, anything: Any = None) -> dict[str, Any]:
    """Give back what was given."""
    return {"whole": whole, "broken": broken, "anything": anything}


@tool("echo.fail", level="read")
async def fail(text: str = "") -> str:
    """Fail with something."""
    raise ToolError(f"It broke: {text}", code="BROKEN")


@tool("echo.share", level="read", collaborative=True, aggregate=len)
async def share(text: str = "") -> str:
    """Say something together."""
    return text


@tool("echo.send", level="destructive")
async def send(text: str = "") -> str:
    """Send something, after somebody agreed."""
    return text


@dataclass(repr=False)
class TenantContents:
    """What a tenant has: its ids by the parameter of a path that takes them, and what gives it away."""

    tenant: str
    mark: str = field(default_factory=lambda: f"m{secrets.token_hex(8)}")
    """Stands in everything that the tenant has: whoever reads it has seen what is theirs."""
    label: str = field(default_factory=lambda: f"n{secrets.token_hex(8)}")
    """Stands in the names that somebody else may guess, and send here."""
    ids: dict[str, list[str]] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    people: dict[str, str] = field(default_factory=dict)
    """Their ids, by role."""

    async def settle(self, hr: Handrail, services: Services) -> None:
        """One of everything, under names and with words that carry the mark."""
        mark, by = self.mark, console_principal(self.tenant)
        await services.people.create_tenant(self.tenant, f"House {mark}")
        spare = await services.people.add_member(by, f"spare-{mark}@example.com", ["viewer"], f"Spare {mark}")
        await services.people.save_role(by, f"role-{self.label}", ["runs.read"])
        _, key = await services.keys.make(by, f"key {mark}", agent=f"agent {mark}", tools=[f"{mark}.*"])
        for role in BUILT_IN_ROLES:
            await self._join(role, services)
        text, _ = await services.keys.make(by, "agent", agent="agent", permissions=[])
        self.keys["agent"] = text.reveal()
        calls = await self._work(hr)
        await self._plan(hr)
        await services.tool_admin.override(by, row_slug(fail), {"description": f"Fails for {mark}"})
        await self._keep_secret(services)
        who = Principal(self.tenant, permissions=["*"])
        together = await services.tool_sessions.create(by, share, f"Session {mark}")
        _, embed = await services.embeds.publish(by, f"Embed {mark}", [say], ["https://a.example"])
        self.ids = {
            "slug": [peek_tool_id(self), slug_of(peek_tool_id(self))],
            "call_id": calls,
            "run_id": [one.id for one in await hr.runs(who)],
            "session": [f"session-{self.label}", f"call:{calls[-1]}"],
            "approval_id": [one.id for one in await hr.approvals.list(who)],
            "letter_id": [one.id for one in await hr.dead_letters.list(who)],
            "key_id": [key.id],
            "user_id": [spare.id],
            "name": [f"role-{self.label}"],
            "tool_session_id": [together.id],
            "embed_id": [embed.id],
        }
        assert all(self.ids.values()), self.ids

    async def _join(self, role: str, services: Services) -> None:
        by = console_principal(self.tenant)
        user = await services.people.add_member(by, f"{role}-{self.mark}@example.com", [role])
        self.people[role] = user.id
        self.cookies[role] = await services.authenticator.sign_in(user.id, self.tenant)
        text, _ = await services.keys.make(by, role, "service", user=user.id, permissions=["*"])
        self.keys[role] = text.reveal()

    async def _work(self, hr: Handrail) -> list[str]:
        """Calls that ended well, failed, wait for a person and wait for a worker."""
        who, told = Principal(self.tenant, "ana", agent="bot"), {"text": f"word {self.mark}"}
        at: dict[str, Any] = {"principal": who, "source": "api", "session": f"session-{self.label}"}
        made = [await hr.call(name, told, **at) for name in ("echo.say", "echo.fail", "echo.send")]
        assert [one.status for one in made] == ["completed", "failed", "pending"], made
        alone = await hr.call("echo.send", told, principal=who, source="mcp", idempotency_key=self.mark)
        made += [alone, await hr.submit("echo.say", told, principal=who, source="api")]
        await hr.wait(made[-1].call_id, 20, principal=who)
        return [one.call_id for one in made]

    async def _plan(self, hr: Handrail) -> None:
        """A planned call of everybody."""
        for role, user in self.people.items():
            call = BoundCall(
                "echo.say", Principal(self.tenant, user), f"planned-{role}-{self.mark}", source="web"
            )
            told = {"text": f"word {self.mark}"}
            assert (
                await hr._runtime.plans.add(PlannedCall(call, "echo.say", told, "planned", told)) == "added"
            )

    async def _keep_secret(self, services: Services) -> None:
        await services.db.write(
            self.tenant,
            lambda conn: set_secret(
                conn, self.tenant, "token", f"secret {self.mark}", seal=Seal([b"k" * 32]), now=1.0
            ),
        )


def peek_tool_id(home: TenantContents) -> str:
    """The tool that one tenant alone has; nobody could take the one for a slip of the other."""
    return f"own.{home.label}" if home.tenant == THERE else f"{home.label}.kept_here"


def make_peek_tool(home: TenantContents) -> Any:
    @tool(peek_tool_id(home), level="read", tenants=(home.tenant,), category=home.mark)
    async def peek() -> str:
        """Look at what one tenant alone has."""
        return home.mark

    return peek


@dataclass(repr=False)
class AttackedServer:
    """The server, and who lives there."""

    url: str
    platform: Platform
    here: TenantContents
    there: TenantContents
    loop: asyncio.AbstractEventLoop

    @cached_property
    def api(self) -> FastAPI:
        """The app whose routes are attacked."""
        return build_api(self.platform)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something where the server runs."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    def client(self, role: str, *, by: str = "cookie", tenant: str = HERE, **more: Any) -> httpx.Client:
        """Somebody of the attacking tenant, unless another one is named."""
        home = self.here if tenant == HERE else self.there
        headers = {"host": "127.0.0.1"}
        if by == "cookie" and role in home.cookies:
            headers["cookie"] = f"{SESSION_COOKIE}={home.cookies[role]}"
        elif role != "nobody":
            headers["authorization"] = f"Bearer {home.keys[role]}"
        return httpx.Client(base_url=self.url, headers=headers, timeout=20, verify=NO_TLS, **more)


_CLOSED = 120
"""Seconds after which a server is closed, also where a job that it waits for takes its whole time."""


@contextmanager
def attacked_server(
    url: str,
    who: AuthBackend | None = None,
    *,
    home: Callable[[str], TenantContents] = TenantContents,
    tools: Sequence[Any] = (),
    **options: Any,
) -> Iterator[AttackedServer]:
    """A server over a database, on a free port, in a thread of its own; closed at the end."""
    here, there = home(HERE), home(THERE)
    ready: list[AttackedServer | BaseException] = []
    beat, sse.HEARTBEAT = sse.HEARTBEAT, 0.2  # a stream on which nothing happens says so soon
    there_is, over = threading.Event(), asyncio.Event()

    async def live() -> None:
        own = [say, count, fail, send, share, make_peek_tool(here), make_peek_tool(there)]
        async with Handrail([*own, *tools], database=url) as hr:
            platform = platform_of(hr)
            assert platform.services is not None
            for home in (here, there):
                await home.settle(hr, platform.services)
            if who is not None:
                platform = replace(platform, auth=who)
            await _serve(platform, options)

    async def _serve(platform: Platform, options: dict[str, Any]) -> None:
        doors = build_doors(platform, 0.2)
        limits = RequestLimits(**{"rate": None, **options})
        app = SecurityMiddleware(DoorRouter(platform, doors), platform, limits)
        wire: dict[str, Any] = {"log_config": None, "http": LimitedHttpProtocol, "server_header": False}
        async with doors.mcp.running(), serve_app(app, **wire) as address:
            ready.append(AttackedServer(address, platform, here, there, asyncio.get_running_loop()))
            there_is.set()
            await over.wait()
            platform.closing.set()

    def stand() -> None:
        try:
            asyncio.run(live())
        except BaseException as error:
            ready.append(error)
        finally:
            there_is.set()

    thread = threading.Thread(target=stand)
    thread.start()
    there_is.wait(60)
    found = ready[0]
    if isinstance(found, BaseException):
        raise found
    try:
        yield found
    finally:
        found.loop.call_soon_threadsafe(over.set)
        thread.join(_CLOSED)
        sse.HEARTBEAT = beat
    assert not thread.is_alive(), "it did not close"
    assert len(ready) == 1, ready[1:]


_INSIDE = re.compile(
    r"Traceback|File \"|\.py\b|site-packages|sqlite3|sqlalchemy|psycopg|pydantic|starlette|fastapi|uvicorn"
    r"|\bSELECT |\bINSERT |\bUPDATE |\bDELETE FROM|handrail\.(?:core|store|doors|identity|engine)"
    r"|0x[0-9a-f]{8,}|object at |Error:|Exception",
)


def parse_strict_json(text: str) -> Any:
    """JSON as the standard has it: NaN and Infinity are none."""

    def no(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=no)


def inside(answer: httpx.Response, sent: str = "") -> str | None:
    """What an answer tells of how this is made; None when it tells nothing."""
    return inside_text(
        answer.text + "\n".join(f"{name}: {value}" for name, value in answer.headers.items()), sent
    )


def inside_text(told: str, sent: str = "") -> str | None:
    """What a text tells of how this is made. What was sent may come back."""
    for found in _INSIDE.finditer(told):
        if found[0] not in sent:
            return told[max(0, found.start() - 80) : found.end() + 80]
    return None
