"""Sessions are found by an index, however many a tenant has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection, event

from handrail.store.tool_sessions import list_tool_sessions, tool_session_of_share
from tests.contract.tenant_database import tenant_database


@pytest.mark.req("CS-01")
@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (lambda conn: tool_session_of_share(conn, "acme", "share_1"), "tenant_id_share_id"),
        (
            lambda conn: list_tool_sessions(conn, "acme", tool="team-rate"),
            "tenant_id_tool_slug_created_at_id",
        ),
    ],
)
def test_a_session_is_found_by_its_link_or_tool_without_looking_at_others(
    ask: Callable[[Connection], Any], index: str, sqlite_url: str
) -> None:
    with tenant_database(sqlite_url, None, "acme") as db, db.transaction("acme") as conn:
        said: list[tuple[str, Any]] = []

        def note(_conn: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
            said.append((statement, parameters))

        event.listen(conn, "before_cursor_execute", note)
        ask(conn)
        event.remove(conn, "before_cursor_execute", note)
        [(statement, parameters)] = said
        plan = conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
        [step] = [str(row[3]) for row in plan]  # one search and no sorting
        assert f"USING INDEX ix_tool_sessions_{index} (" in step
