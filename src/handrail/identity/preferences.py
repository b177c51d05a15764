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
    """What people saved, each their own. Nobody sees another's, whatever permissions they hold."""

    def __init__(self, db: Database, seal: Seal) -> None:
        self._db = db
        self._seal = seal

    async def favourites(self, who: Principal) -> list[str]:
        """The ids of their favourite tools, in the order in which they were chosen."""
        tenant, user = _person(who)
        return await self._db.read(tenant, rows.list_favourites, tenant, user)

    async def set_favourite(self, who: Principal, tool: str, on: bool) -> bool:
        """Make a tool a favourite, or none any more; whether that changed anything."""
        tenant, user = _person(who)
        at = self._db.clock.now()
        if not on:
            return await self._db.write(tenant, rows.remove_favourite, tenant, user, tool)
        _check_tool(tool)
        return await self._db.write(tenant, rows.add_favourite, tenant, user, tool, at=at)

    async def saved(self, who: Principal, tool: str) -> list[SavedInput]:
        """What they saved for a tool, by name."""
        tenant, user = _person(who)
        return await self._db.read(tenant, rows.list_saved_inputs, tenant, user, tool, self._seal)

    async def save(self, who: Principal, tool: Tool, name: str, args: Mapping[str, Any]) -> tuple[str, ...]:
        """Save arguments under a name, replacing those of the same name.

        The tool's secrets are left out; returns the paths where they were.
        """
        tenant, user = _person(who)
        _check_tool(tool.id)
        checked_name = _check_name(name)
        public_args, left_out = drop_paths(json_data(dict(args)), tool.secrets)
        if len(dump(public_args).encode()) > MAX_INPUT_BYTES:
            raise UsageError(
                f"This input is too large to be saved: the most are {MAX_INPUT_BYTES // 1024} kB."
            )
        at = self._db.clock.now()
        await self._db.write(
            tenant, rows.save_input, tenant, user, tool.id, checked_name, public_args, at=at, seal=self._seal
        )
        return left_out

    async def remove(self, who: Principal, tool: str, name: str) -> bool:
        """Forget what was saved under a name; False when there is nothing."""
        tenant, user = _person(who)
        return await self._db.write(tenant, rows.delete_saved_input, tenant, user, tool, name)

    async def theme(self, who: Principal) -> Theme:
        """How pages look for them."""
        tenant, user = _person(who)
        stored = await self._db.read(tenant, theme_of, tenant, user)
        return next((theme for theme in THEMES if theme == stored), "system")

    async def set_theme(self, who: Principal, theme: str) -> None:
        """Choose how pages look for them, in every tenant."""
        tenant, user = _person(who)
        if theme not in THEMES:
            raise UsageError(f"Pages can look {', '.join(THEMES[:-1])} or as the {THEMES[-1]} does.")
        await self._db.write(tenant, set_theme, tenant, user, theme)


def _person(who: Principal) -> tuple[str, str]:
    if who.user is None or who.agent is not None:
        raise UsageError("Favourites, saved inputs and preferences belong to people.")
    return who.tenant, who.user


def _check_tool(tool: str) -> None:
    if not tool or fit_column(tool) != tool:
        raise UsageError(f"A tool has a printable name of at most {MAX_COLUMN_TEXT} characters.")


def _check_name(name: str) -> str:
    cleaned = " ".join(name.split())
    if not cleaned or len(cleaned) > MAX_INPUT_NAME or not cleaned.isprintable():
        raise UsageError(f"Give it a name of 1 to {MAX_INPUT_NAME} characters, by which you find it again.")
    return cleaned
