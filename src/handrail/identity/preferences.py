"""Preferences: favourite tools, saved inputs and the theme of each person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from handrail.core.define.principal import Principal
from handrail.core.define.redaction import drop_paths
from handrail.core.define.tool import Tool
from handrail.core.errors import UsageError
from handrail.store import preferences as rows
from handrail.store.codec import MAX_COLUMN_TEXT, dump, fit_column, json_data
from handrail.store.database import Database
from handrail.store.encryption import Seal
from handrail.store.preferences import SavedInput
from handrail.store.users import set_theme, theme_of

Theme = Literal["light", "dark", "system"]
THEMES: tuple[Theme, ...] = get_args(Theme)
MAX_INPUT_NAME = 100
MAX_INPUT_BYTES = 256 * 1024
"""Bytes of JSON that can be saved under one name."""


class Preferences:
    """What people keep, each their own. Nobody sees another's, whatever they hold."""

    def __init__(self, db: Database, seal: Seal) -> None:
        self._db = db
        self._seal = seal

    async def favourites(self, who: Principal) -> list[str]:
        """The ids of their favourite tools, in the order in which they were chosen."""
        tenant, user = _person(who)
        return await self._db.read(tenant, lambda conn: rows.list_favourites(conn, tenant, user))

    async def set_favourite(self, who: Principal, tool: str, on: bool) -> bool:
        """Make a tool a favourite, or none any more; whether that changed anything."""
        tenant, user = _person(who)
        at = self._db.clock.now()
        if not on:
            return await self._db.write(tenant, lambda conn: rows.remove_favourite(conn, tenant, user, tool))
        _check_tool(tool)
        return await self._db.write(tenant, lambda conn: rows.add_favourite(conn, tenant, user, tool, at=at))

    async def saved(self, who: Principal, tool: str) -> list[SavedInput]:
        """What they saved for a tool, by name."""
        tenant, user = _person(who)
        return await self._db.read(
            tenant, lambda conn: rows.list_saved_inputs(conn, tenant, user, tool, self._seal)
        )

    async def save(self, who: Principal, tool: Tool, name: str, args: Mapping[str, Any]) -> tuple[str, ...]:
        """Keep arguments under a name, in the place of those of the same name.

        The tool's secrets are left out: the answer says where they stood.
        """
        tenant, user = _person(who)
        _check_tool(tool.id)
        called = _check_name(name)
        kept, left_out = drop_paths(json_data(dict(args)), tool.secrets)
        if len(dump(kept).encode()) > MAX_INPUT_BYTES:
            raise UsageError(
                f"This input is too large to be saved: the most are {MAX_INPUT_BYTES // 1024} kB."
            )
        at = self._db.clock.now()
        await self._db.write(
            tenant,
            lambda conn: rows.save_input(conn, tenant, user, tool.id, called, kept, at=at, seal=self._seal),
        )
        return left_out

    async def remove(self, who: Principal, tool: str, name: str) -> bool:
        """Forget what was saved under a name; False when there is nothing."""
        tenant, user = _person(who)
        return await self._db.write(
            tenant, lambda conn: rows.delete_saved_input(conn, tenant, user, tool, name)
        )

    async def theme(self, who: Principal) -> Theme:
        """How pages look for them."""
        tenant, user = _person(who)
        found = await self._db.read(tenant, lambda conn: theme_of(conn, tenant, user))
        return next((one for one in THEMES if one == found), "system")

    async def set_theme(self, who: Principal, theme: str) -> None:
        """Let pages look so for them, in every tenant."""
        tenant, user = _person(who)
        if theme not in THEMES:
            raise UsageError(f"Pages can look {', '.join(THEMES[:-1])} or as the {THEMES[-1]} does.")
        await self._db.write(tenant, lambda conn: set_theme(conn, tenant, user, theme))


def _person(who: Principal) -> tuple[str, str]:
    if who.user is None or who.agent is not None:
        raise UsageError("Favourites, saved inputs and preferences belong to people.")
    return who.tenant, who.user


def _check_tool(tool: str) -> None:
    if not tool or fit_column(tool) != tool:
        raise UsageError(f"A tool has a printable name of at most {MAX_COLUMN_TEXT} characters.")


def _check_name(name: str) -> str:
    called = " ".join(name.split())
    if not called or len(called) > MAX_INPUT_NAME or not called.isprintable():
        raise UsageError(f"Give it a name of 1 to {MAX_INPUT_NAME} characters, by which you find it again.")
    return called
