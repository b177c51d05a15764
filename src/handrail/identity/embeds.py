"""Embeds: tools that somebody published for everybody, on pages of other sites.

The token is in the address of the page, so it is no secret to whoever looks at it; it opens the tools of its
view, to read with, as often as its quota says, and ends when it is switched off.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from handrail.core.define.call import Outcome
from handrail.core.define.principal import EVERYTHING, Principal
from handrail.core.define.tool import Tool
from handrail.core.errors import ToolError, UsageError
from handrail.core.present.forms import unfilled_operator_fields, without_operator_fields
from handrail.engine.handrail import Handrail
from handrail.identity.api_keys import KeyText, new_key, parse_key
from handrail.identity.permissions import check_grant, require_permission
from handrail.store import embeds as rows
from handrail.store.database import Database
from handrail.store.embeds import Embed
from handrail.store.encryption import Seal

MAX_EMBED_TOOLS = 20
MAX_EMBED_ORIGINS = 20
MAX_EMBED_RUNS = 1_000_000
MAX_EMBED_TITLE = 200

_ORIGIN = re.compile(
    r"https?://(?:[a-z0-9](?:[a-z0-9.-]{0,252}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?\Z"
)


class Embeds:
    """What the tenants published."""

    def __init__(self, db: Database, seal: Seal) -> None:
        self._db = db
        self._seal = seal
        self._visitors = seal.derived("embed visitors")

    async def publish(
        self,
        by: Principal,
        title: str,
        tools: Sequence[Tool],
        origins: Sequence[str],
        *,
        runs_per_day: int = 1_000,
        runs_per_visitor: int = 100,
        lifetime: float | None = None,
    ) -> tuple[KeyText, Embed]:
        """Open these tools, which the principal sees, to everybody who has the token."""
        require_permission(by, by.tenant, "embeds.manage")
        if not 1 <= len(tools) <= MAX_EMBED_TOOLS:
            raise UsageError(f"An embed shows 1 to {MAX_EMBED_TOOLS} tools.")
        for tool in tools:
            check_grant(by, [] if tool.requires is None else [tool.requires])
            check_publishable(tool)
        if lifetime is not None and not lifetime > 0:
            raise UsageError("The lifetime of an embed is a number of seconds above 0.")
        text, now = new_key(by.tenant, "he"), self._db.clock.now()
        quotas = {"runs_per_day": runs_per_day, "runs_per_visitor": runs_per_visitor}
        embed = Embed(
            **check_embed_changes({**quotas, "title": title, "origins": origins}),
            id=text.id,
            tools=tuple(dict.fromkeys(tool.id for tool in tools)),
            created_by=by.user or "unknown",
            created_at=now,
            digest=text.digest,
            sealed=self._seal.close(by.tenant, text.secret, text.id),
            expires_at=None if lifetime is None else now + lifetime,
        )
        await self._db.write(by.tenant, rows.add_embed, by.tenant, embed)
        return text, embed

    async def list(self, by: Principal) -> list[Embed]:
        """What the tenant published, the newest first."""
        require_permission(by, by.tenant, "embeds.manage")
        return await self._db.read(by.tenant, rows.list_embeds, by.tenant)

    async def get(self, by: Principal, embed: str) -> Embed | None:
        require_permission(by, by.tenant, "embeds.manage")
        return await self._db.read(by.tenant, rows.get_embed, by.tenant, embed)

    def token(self, by: Principal, embed: Embed) -> KeyText:
        """The token again, for whoever manages it."""
        require_permission(by, by.tenant, "embeds.manage")
        return KeyText(by.tenant, embed.id, self._seal.open(by.tenant, embed.sealed, embed.id), "he")

    async def change(self, by: Principal, embed: str, changes: Mapping[str, Any]) -> bool:
        """Change title, origins, quotas, or switch it off and on; False when there is none to change."""
        require_permission(by, by.tenant, "embeds.manage")
        checked = check_embed_changes(changes)
        return await self._db.write(by.tenant, rows.change_embed, by.tenant, embed, checked)

    async def revoke(self, by: Principal, embed: str) -> bool:
        """Revoke it for good; False when there is none, or it was revoked before."""
        require_permission(by, by.tenant, "embeds.manage")
        ended = {"revoked_at": self._db.clock.now()}
        return await self._db.write(by.tenant, rows.change_embed, by.tenant, embed, ended)

    async def by_token(self, token: str) -> tuple[str, Embed] | None:
        """The tenant and what a token opens; None when it opens nothing, or nothing any more.

        It is read each time: what is switched off is gone with the next request.
        """
        text = parse_key(token, "he")
        if text is None:
            return None
        embed = await self._db.read(text.tenant, rows.get_embed, text.tenant, text.id)
        if not text.is_of(None if embed is None else embed.digest) or embed is None:
            return None
        return (text.tenant, embed) if embed.is_open(self._db.clock.now()) else None

    async def count(self, tenant: str, embed: Embed, address: str) -> str | None:
        """Count one run of a visitor; or say in words that the quota is used up.

        Of an address only a hash is stored, another one each day.
        """
        day = self.day()
        name = hmac.digest(self._visitors, f"{day} {embed.id} {address}".encode(), "sha256").hex()[:32]
        full = await self._db.write(tenant, rows.count_embed_run, tenant, embed, day=day, visitor=name)
        if full == "visitor":
            return "You have used this as often as one visitor can in a day. Come back tomorrow."
        if full == "day":
            return "This was used as often as it can be in a day. Come back tomorrow."
        return None

    async def runs_today(self, by: Principal, embed: str) -> int:
        require_permission(by, by.tenant, "embeds.manage")
        day = self.day()
        return await self._db.read(by.tenant, rows.embed_runs_on, by.tenant, embed, day)

    def day(self) -> str:
        """Today, as it is in UTC."""
        return datetime.fromtimestamp(self._db.clock.now(), UTC).date().isoformat()


def visitor_principal(tenant: str, embed: Embed, tool: Tool | None = None) -> Principal:
    """Who a visitor is to the guard: nobody, with the tools of the embed, read-only.

    The permission that a tool requires is that of the publisher.
    """
    holds = [] if tool is None or tool.requires is None else [tool.requires]
    return Principal(
        tenant,
        f"embed:{embed.id}",
        permissions=holds,
        key="service",
        scope=embed.tools,
        ceiling="read",
        embed=True,
    )


def check_embed_changes(changes: Mapping[str, Any]) -> dict[str, Any]:
    """What is to be changed, each as it may be."""
    checked: dict[str, Any] = {}
    for name, value in changes.items():
        if name == "title":
            checked[name] = " ".join(str(value).split())
            if not checked[name] or len(checked[name]) > MAX_EMBED_TITLE or not checked[name].isprintable():
                raise UsageError(f"A title is one line of 1 to {MAX_EMBED_TITLE} characters.")
        elif name == "origins":
            checked[name] = tuple(dict.fromkeys(normalise_origin(one) for one in value))
            if len(checked[name]) > MAX_EMBED_ORIGINS:
                raise UsageError(f"An embed is shown on {MAX_EMBED_ORIGINS} origins at most.")
        elif name in ("runs_per_day", "runs_per_visitor"):
            if type(value) is not int or not 0 <= value <= MAX_EMBED_RUNS:
                raise UsageError(f"A quota is a whole number of runs from 0 to {MAX_EMBED_RUNS:,}.")
            checked[name] = value
        elif name == "enabled":
            checked[name] = bool(value)
        else:
            raise UsageError(f"{name} of an embed cannot be changed.")
    return checked


def normalise_origin(text: str) -> str:
    """An origin whose pages may show an embed: scheme, name and port, as a browser writes them."""
    origin = text.strip().lower().rstrip("/")
    scheme, _, rest = origin.partition("://")
    port = {"http": ":80", "https": ":443"}.get(scheme)
    if port is not None:
        origin = origin.removesuffix(port)
    if not _ORIGIN.match(origin) or not rest:
        raise UsageError(f"{text!r} is no origin. Write it like https://www.example.com, without a path.")
    return origin


def check_publishable(tool: Tool) -> None:
    """Raise unless everybody may use the tool: it only reads, and asks for nothing that visitors lack."""
    if tool.level != "read" or tool.policy != "auto":
        raise UsageError(
            f"{tool.name} can change things, or has to be approved, so it cannot be published for everybody."
        )
    lacking = unfilled_operator_fields(tool)
    if lacking:
        raise UsageError(
            f"{tool.name} cannot be published: it needs {', '.join(lacking)}, which is for operators only. "
            "Give it a default."
        )


async def published_tool(hr: Handrail, tenant: str, embed: Embed, name: str) -> Tool | None:
    """The tool of that name on a view; None for any other, and for one that may not be used there now."""
    bare = visitor_principal(tenant, embed)
    looking = Principal(
        tenant, bare.user, permissions=[EVERYTHING], scope=embed.tools, ceiling="read", embed=True
    )
    try:
        tool = (await hr.describe(name, looking, source="web")).tool
        check_publishable(tool)
    except (ToolError, UsageError):
        return None
    return tool


async def published_tools(hr: Handrail, tenant: str, embed: Embed) -> list[Tool]:
    """The tools of a view that may be used, in its order."""
    tools = [await published_tool(hr, tenant, embed, name) for name in embed.tools]
    return [tool for tool in tools if tool is not None]


async def run_published_tool(
    hr: Handrail,
    embeds: Embeds,
    tenant: str,
    embed: Embed,
    tool: Tool,
    args: Mapping[str, Any],
    address: str,
) -> Outcome | str:
    """How a visitor's call ended; or in words that the quota is used up.

    What is for operators only is left out, whoever sent it.
    """
    refused = await embeds.count(tenant, embed, address)
    if refused is not None:
        return refused
    who = visitor_principal(tenant, embed, tool)
    visible_args = without_operator_fields(tool, args)
    return await hr.call(tool.id, visible_args, principal=who, source="web")
