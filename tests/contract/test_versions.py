"""Versions of anything: kept once by content, recorded at every save, compared and restored."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from handrail import Handrail
from handrail.core.errors import DefinitionError, UsageError
from handrail.core.find.visibility import ToolRow
from handrail.identity.permissions import console_principal
from handrail.identity.tenant_tools import TenantTools
from handrail.identity.tool_admin import ToolAdmin
from handrail.store.database import Database
from handrail.store.versions import canonical_text, compare, content_of, history, restore, save_version
from tests.contract.tenant_database import tenant_database

ACME = "acme"


@pytest.fixture
def db(database_url: str) -> Iterator[Database]:
    with tenant_database(database_url, None, ACME, "other") as db:
        yield db


@pytest.mark.req("SV-01", "SV-03", "SV-05")
def test_content_is_kept_once_and_every_save_is_recorded(db: Database) -> None:
    first, second = {"a": 1, "b": [1, 2]}, {"a": 2}
    with db.transaction(ACME) as conn:
        for number, content in enumerate((first, second, {"b": [1, 2], "a": 1}), 1):
            save_version(
                conn, ACME, "entity", "person", content, at=float(number), by="ana", note=f"no. {number}"
            )
        save_version(conn, ACME, "block", "person", first, at=4.0, by=None)
        kept = conn.execute(text("SELECT count(*) FROM schema_contents")).scalar()
        saves = history(conn, ACME, "entity", "person")
        assert kept == 2
        assert [(one.number, one.saved_at, one.saved_by, one.note) for one in saves] == [
            (3, 3.0, "ana", "no. 3"),
            (2, 2.0, "ana", "no. 2"),
            (1, 1.0, "ana", "no. 1"),
        ]
        assert saves[0].hash == saves[2].hash != saves[1].hash
        assert [one.number for one in history(conn, ACME, "entity", "person", before=3, limit=1)] == [2]
        assert [one.number for one in history(conn, ACME, "block", "person")] == [1]
        assert content_of(conn, ACME, "entity", "person", 2) == second


@pytest.mark.req("SV-05")
def test_two_versions_are_compared_line_by_line_and_an_old_one_comes_back_as_a_new_one(db: Database) -> None:
    with db.transaction(ACME) as conn:
        save_version(conn, ACME, "tool", "t", {"type": "object", "title": "Ä"}, at=1.0, by="ana")
        save_version(conn, ACME, "tool", "t", {"type": "object", "title": "B"}, at=2.0, by="ana")
        told = compare(conn, ACME, "tool", "t", 1, 2).splitlines()
        assert told[:2] == ["--- version 1", "+++ version 2"]
        assert '-  "title": "Ä",' in told and '+  "title": "B",' in told
        back = restore(conn, ACME, "tool", "t", 1, at=3.0, by="bob")
        assert (back.number, back.saved_by, back.note) == (3, "bob", "restored version 1")
        assert compare(conn, ACME, "tool", "t", 1, 3) == ""
        assert content_of(conn, ACME, "tool", "t", 2)["title"] == "B"
        with pytest.raises(UsageError, match="no version 9"):
            restore(conn, ACME, "tool", "t", 9, at=3.0, by="bob")


def test_content_that_was_changed_where_it_is_kept_is_not_given_out(db: Database) -> None:
    with db.transaction(ACME) as conn:
        save_version(conn, ACME, "tool", "t", {"a": 1}, at=1.0, by=None)
        conn.execute(text("UPDATE schema_contents SET content = :other"), {"other": '{"a":2}'})
        with pytest.raises(UsageError, match="was changed"):
            content_of(conn, ACME, "tool", "t", 1)


@pytest.mark.req("SV-05")
def test_saves_at_once_are_all_recorded_and_numbered_without_a_gap(db: Database) -> None:
    def save(number: int) -> None:
        with db.transaction(ACME) as conn:
            save_version(conn, ACME, "tool", "t", {"n": number % 3}, at=1.0, by=str(number))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(save, range(24)))
    with db.reading(ACME) as conn:
        saves = history(conn, ACME, "tool", "t")
    assert [one.number for one in saves] == list(range(24, 0, -1))
    assert sorted(int(str(one.saved_by)) for one in saves) == list(range(24))


@pytest.mark.req("SV-02", "SV-04", "AT-03")
async def test_every_save_of_a_tool_is_a_version_of_its_schemas(db: Database) -> None:
    tools = TenantTools(db, Handrail().registry, bodies=lambda row: lambda **given: None)
    tool_admin, by = ToolAdmin(tools), console_principal(ACME)
    one = {"type": "object", "properties": {"n": {"type": "integer"}}}
    two = {"type": "object", "properties": {"m": {"type": "string"}}}
    row = ToolRow(ACME, "ours", "tenant_custom", description="Ours.", level="read", input_schema=one)
    await tool_admin.save_own(by, row, "first")
    await tool_admin.save_own(by, replace(row, input_schema=two))
    await tool_admin.save_own(by, replace(row, input_schema=two, name="Another name"))
    saves = await tool_admin.versions(by, "ours")
    assert [save.number for save in saves] == [3, 2, 1] and saves[0].hash == saves[1].hash
    assert saves[2].note == "first" and saves[2].saved_by == "console"
    assert '+      "m": {' in await tool_admin.compare(by, "ours", 1, 2)
    await tool_admin.restore(by, "ours", 1)
    now = await tools.resolve_tool_for_tenant("ours", ACME)
    assert now is not None and now.name == "Another name"
    assert now.input_schema["properties"] == {"n": {"type": "integer"}}
    assert len(await tool_admin.versions(by, "ours")) == 4


async def test_a_tool_that_could_not_be_used_is_not_stored(db: Database) -> None:
    tools = TenantTools(db, Handrail().registry)
    row = ToolRow(ACME, "ours", "tenant_custom", description="Ours.")
    for wrong in (
        replace(row, description=""),
        replace(row, slug="Not A Slug"),
        replace(row, input_schema={"type": "string"}),
        replace(row, level="gigantic"),  # type: ignore[arg-type]
    ):
        with pytest.raises(DefinitionError):
            await ToolAdmin(tools).save_own(console_principal(ACME), wrong)
    with db.reading(ACME) as conn:
        assert conn.execute(text("SELECT count(*) FROM tools")).scalar() == 0


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@pytest.mark.req("SV-05")
@given(st.dictionaries(st.text(), json, max_size=4))
def test_the_order_of_names_makes_no_other_content(content: dict[str, object]) -> None:
    assert canonical_text(dict(reversed(content.items()))) == canonical_text(content)


@pytest.mark.parametrize("wrong", [{"a": float("nan")}, {1: "a"}, {"a": {1, 2}}, {"a": (1, 2)}])
def test_what_is_no_json_is_refused(wrong: object) -> None:
    with pytest.raises(UsageError, match="Only JSON"):
        canonical_text(wrong)
