"""A person's favourite tools, and inputs that they saved under a name, as rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, func, select
from sqlalchemy.engine import Connection

from handrail.core.errors import UsageError
from handrail.store.advisory_lock import advisory_lock
from handrail.store.codec import dump, load
from handrail.store.encryption import Seal
from handrail.store.tables import favourites, saved_inputs
from handrail.store.upsert import insert_if_absent, upsert

MAX_FAVOURITES = 200
MAX_SAVED_INPUTS = 100


@dataclass(frozen=True, slots=True)
class SavedInput:
    """Arguments that a person keeps under a name."""

    name: str
    args: dict[str, Any]
    updated_at: float


def list_favourites(conn: Connection, tenant: str, user: str) -> list[str]:
    """The ids of a person's favourite tools, in the order in which they were chosen."""
    mine = select(favourites.c.tool).where(favourites.c.tenant_id == tenant, favourites.c.user_id == user)
    return list(conn.execute(mine.order_by(favourites.c.created_at, favourites.c.tool)).scalars())


def add_favourite(conn: Connection, tenant: str, user: str, tool: str, *, at: float) -> bool:
    """Make a tool a favourite; False when it was one."""
    advisory_lock(conn, "favourites", tenant, user)
    there = list_favourites(conn, tenant, user)
    if tool in there:
        return False
    if len(there) >= MAX_FAVOURITES:
        raise UsageError(f"You have {MAX_FAVOURITES} favourites, which is the most. Remove one first.")
    return insert_if_absent(
        conn, favourites, {"tenant_id": tenant, "user_id": user, "tool": tool, "created_at": at}
    )


def remove_favourite(conn: Connection, tenant: str, user: str, tool: str) -> bool:
    """Let a tool be no favourite; False when it was none."""
    c = favourites.c
    mine = delete(favourites).where(c.tenant_id == tenant, c.user_id == user, c.tool == tool)
    return conn.execute(mine).rowcount > 0


def list_saved_inputs(conn: Connection, tenant: str, user: str, tool: str, seal: Seal) -> list[SavedInput]:
    """What a person saved for a tool, by name."""
    rows = conn.execute(select(saved_inputs).where(_mine(tenant, user, tool)).order_by(saved_inputs.c.name))
    return [_saved(row, seal) for row in rows]


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
    """Keep arguments under a name, in the place of those of the same name."""
    advisory_lock(conn, "saved inputs", tenant, user)
    others = and_(_mine(tenant, user, tool), saved_inputs.c.name != name)
    if conn.execute(select(func.count()).where(others)).scalar_one() >= MAX_SAVED_INPUTS:
        raise UsageError(
            f"You have {MAX_SAVED_INPUTS} saved inputs for this tool, which is the most. Remove one first."
        )
    sealed = seal.close(tenant, dump(args), _about(user, tool, name))
    row = {"tenant_id": tenant, "user_id": user, "tool": tool, "name": name, "sealed": sealed}
    upsert(conn, saved_inputs, {**row, "updated_at": at})


def delete_saved_input(conn: Connection, tenant: str, user: str, tool: str, name: str) -> bool:
    """Forget what was saved under a name; False when there is nothing."""
    mine = delete(saved_inputs).where(_mine(tenant, user, tool), saved_inputs.c.name == name)
    return conn.execute(mine).rowcount > 0


def _mine(tenant: str, user: str, tool: str) -> ColumnElement[bool]:
    c = saved_inputs.c
    return and_(c.tenant_id == tenant, c.user_id == user, c.tool == tool)


def _saved(row: Any, seal: Seal) -> SavedInput:
    told = seal.open(row.tenant_id, row.sealed, _about(row.user_id, row.tool, row.name))
    return SavedInput(row.name, load(told), row.updated_at)


def _about(user: str, tool: str, name: str) -> str:
    return "\n".join(("saved input", user, tool, name))
