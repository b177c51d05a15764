"""How fresh a view of the tools is: what was read is used for a moment, and never longer."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest
from sqlalchemy import event, text

from handrail.core.find.visibility import DEFAULT_TENANT_ID
from handrail.identity.tenant_tools import ToolsUnavailable
from handrail.store.database import Database
from tests.contract.identity.setup import ACME, ANA, BOB, is_visible, make_tool, open_handrail, put_tool_row
from tests.contract.tenant_database import FakeTime

HIDING = """
import sys
from handrail.core.errors import DefinitionError
from handrail.core.find.visibility import ToolRow
from handrail.store.database import Database
from handrail.store.tools import save_tool_row

url, tenant, slug = sys.argv[1:]
db = Database(url)
with db.transaction(tenant) as conn:
    save_tool_row(conn, tenant, ToolRow(tenant, slug, enabled=False), at=1.0, by=None)
db.close()
"""


@pytest.mark.req("MT-08", "MT-09", "AT-04")
async def test_what_was_read_is_not_read_again_for_the_same_request(db: Database) -> None:
    hr, resolver = open_handrail(db, make_tool("a.one"))
    await hr.tools(ANA)
    statements: list[str] = []
    event.listen(db.engine, "before_cursor_execute", lambda c, k, said, *more: statements.append(said))
    await resolver.resolve_all_tools_for_tenant(ACME)
    await resolver.get_disabled_tool_slugs(ACME)
    await hr.call("a.one", principal=ANA)
    assert statements == []


@pytest.mark.req("AT-06", "MT-14")
async def test_what_another_process_hides_is_gone_within_the_bound(db: Database, turning: FakeTime) -> None:
    hr, _ = open_handrail(db, make_tool("a.one"), make_tool("b.two"), staleness=2.0)
    assert await is_visible(hr, "a.one")
    for tenant, slug in ((ACME, "a-one"), (DEFAULT_TENANT_ID, "b-two")):
        command = (sys.executable, "-c", HIDING, db.url, tenant, slug)
        assert await (await asyncio.create_subprocess_exec(*command)).wait() == 0
    turning.turn(1.9)
    assert await is_visible(hr, "a.one"), "what was read is used for as long as the bound says"
    turning.turn(0.1)
    assert not await is_visible(hr, "a.one")
    assert not await is_visible(hr, "b.two", BOB)


@pytest.mark.req("MT-13")
async def test_a_row_that_somebody_inserts_by_hand_counts_too(db: Database, turning: FakeTime) -> None:
    hr, _ = open_handrail(db, make_tool("a.one"))
    assert await is_visible(hr, "a.one")
    row = "'acme', 'a-one', false, 'system_override'"
    for change, shown in (
        (f"INSERT INTO tools (tenant_id, slug, enabled, kind) VALUES ({row})", False),
        ("UPDATE tools SET enabled = true WHERE slug = 'a-one'", True),
        ("UPDATE tools SET enabled = false WHERE slug = 'a-one'", False),
        ("DELETE FROM tools WHERE slug = 'a-one'", True),
    ):
        with db.transaction(ACME) as conn:
            conn.execute(text(change))
        turning.turn(1.0)
        assert await is_visible(hr, "a.one") is shown, change


@pytest.mark.req("AT-06")
async def test_what_cannot_be_read_refuses_and_never_uses_an_old_view(
    db: Database, turning: FakeTime
) -> None:
    hr, _ = open_handrail(db, make_tool("a.one"))
    assert (await hr.call("a.one", principal=ANA)).ok

    def fail(*told: Any) -> None:
        raise OSError("the disk is gone")

    event.listen(db.engine, "before_cursor_execute", fail)
    assert (await hr.call("a.one", principal=ANA)).ok
    turning.turn(1.0)
    out = await hr.call("a.one", principal=ANA)
    assert (out.status, out.result.code) == ("refused", "TOOL_UNAVAILABLE")
    assert "disk" not in str(out.result.error)
    with pytest.raises(ToolsUnavailable):
        await hr.tools(ANA)
    event.remove(db.engine, "before_cursor_execute", fail)
    assert (await hr.call("a.one", principal=ANA)).ok


async def test_calls_that_need_the_same_rows_read_them_once(db: Database) -> None:
    hr, _ = open_handrail(db, make_tool("a.one"))
    statements: list[str] = []
    event.listen(db.engine, "before_cursor_execute", lambda c, k, said, *more: statements.append(said))
    outs = await asyncio.gather(*(hr.call("a.one", principal=ANA) for _ in range(20)))
    assert all(out.ok for out in outs)
    assert sum("tool_change_counts" in said for said in statements) == 1


async def test_views_share_everything_but_their_rows(db: Database) -> None:
    hr, resolver = open_handrail(db, *(make_tool(f"a.tool{number}") for number in range(20)))
    put_tool_row(db, "a-tool1", True, DEFAULT_TENANT_ID, name="For all")
    put_tool_row(db, "a-tool2", True, name="Ours")
    mine, theirs = await resolver.view(ANA), await resolver.view(BOB)
    assert mine.snapshot is theirs.snapshot and mine.common is theirs.common
    assert mine.find("a.tool1") is theirs.find("a.tool1")
    assert mine.find("a.tool0") is hr.registry.get("a.tool0")
    assert mine.find("a.tool2") is not theirs.find("a.tool2")
