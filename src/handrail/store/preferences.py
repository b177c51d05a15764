"""A person's favourite tools, and inputs that they saved under a name, as rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.engine import Connection

from handrail.core.errors import UsageError
from handrail.store.codec import dump, load
from handrail.store.encryption import Seal
from handrail.store.statements import advisory_lock, insert_if_absent, matching, upsert
from handrail.store.tables.identity import favourites, saved_inputs

MAX_FAVOURITES = 200
MAX_SAVED_INPUTS = 100


@dataclass(frozen=True, slots=True)
class SavedInput:
    """Arguments that a person saved under a name."""

    name: str
    args: dict[str, Any]
    updated_at: float


def list_favourites(conn: Connection, tenant: str, user: str) -> list[str]:
    """The ids of a person's favourite tools, in the order in which they were chosen."""
    query = select(favourites.c.tool).where(matching(favourites, tenant_id=tenant, user_id=user))
    return list(conn.execute(query.order_by(favourites.c.created_at, favourites.c.tool)).scalars())


def add_favourite(conn: Connection, tenant: str, user: str, tool: str, *, at: float) -> bool:
    """Make a tool a favourite; False when it was one."""
    advisory_lock(conn, "favourites", tenant, user)
    existing = list_favourites(conn, tenant, user)
    if tool in existing:
        return False
    if len(existing) >= MAX_FAVOURITES:
        raise UsageError(f"You have {MAX_FAVOURITES} favourites, which is the most. Remove one first.")
    return insert_if_absent(
        conn, favourites, {"tenant_id": tenant, "user_id": user, "tool": tool, "created_at": at}
    )


def remove_favourite(conn: Connection, tenant: str, user: str, tool: str) -> bool:
    """Make a tool no favourite; False when it was none."""
    favourite = matching(favourites, tenant_id=tenant, user_id=user, tool=tool)
    return conn.execute(delete(favourites).where(favourite)).rowcount > 0


def list_saved_inputs(conn: Connection, tenant: str, user: str, tool: str, seal: Seal) -> list[SavedInput]:
    """What a person saved for a tool, by name."""
    query = select(saved_inputs).where(_of_tool(tenant, user, tool)).order_by(saved_inputs.c.name)
    return [_saved(row, seal) for row in conn.execute(query)]


def save_input(
    conn: Connection,
    tenant: str,
    user: str,
    tool: str,
    name: str,
    args: dict[str, Any],
    *,
    at: float,
    seal: Seal,
) -> None:
    """Store arguments under a name, replacing those of the same name."""
    advisory_lock(conn, "saved inputs", tenant, user)
    others = select(func.count()).where(_of_tool(tenant, user, tool), saved_inputs.c.name != name)
    if conn.execute(others).scalar_one() >= MAX_SAVED_INPUTS:
        raise UsageError(
            f"You have {MAX_SAVED_INPUTS} saved inputs for this tool, which is the most. Remove one first."
        )
    sealed = seal.close(tenant, dump(args), _about(user, tool, name))
    row = {"tenant_id": tenant, "user_id": user, "tool": tool, "name": name, "sealed": sealed}
    upsert(conn, saved_inputs, {**row, "updated_at": at})


def delete_saved_input(conn: Connection, tenant: str, user: str, tool: str, name: str) -> bool:
    """Forget what was saved under a name; False when there is nothing."""
    named = delete(saved_inputs).where(_of_tool(tenant, user, tool), saved_inputs.c.name == name)
    return conn.execute(named).rowcount > 0


def _of_tool(tenant: str, user: str, tool: str) -> ColumnElement[bool]:
    return matching(saved_inputs, tenant_id=tenant, user_id=user, tool=tool)


def _saved(row: Any, seal: Seal) -> SavedInput:
    args = seal.open(row.tenant_id, row.sealed, _about(row.user_id, row.tool, row.name))
    return SavedInput(row.name, load(args), row.updated_at)


def _about(user: str, tool: str, name: str) -> str:
    return "\n".join(("saved input", user, tool, name))
