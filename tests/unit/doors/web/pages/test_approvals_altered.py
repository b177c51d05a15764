"""Whoever changes a question in the database gets no yes for it, before the answer or after."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from handrail.core.define.schema import digest_of
from tests.unit.doors.web.pages.approval_client import ANA, ApprovalClient, approval_client, words

pytestmark = [pytest.mark.fault("F29"), pytest.mark.req("BY-03", "BY-04")]
ASKED = {"id": "rec-1", "status": "archived"}
HARMLESS = {"id": "rec-1", "status": "active"}


def url(folder: Path) -> str:
    return f"sqlite:///{folder / 'handrail.db'}"


def alter(folder: Path, approval: str, **columns: str) -> None:
    """Change columns of a question behind everybody's back."""
    with closing(sqlite3.connect(folder / "handrail.db", timeout=30)) as conn, conn:
        names = ", ".join(f"{name} = ?" for name in columns)
        done = conn.execute(f"UPDATE approvals SET {names} WHERE id = ?", (*columns.values(), approval))
        assert done.rowcount == 1


async def is_open(pages: ApprovalClient, approval: str) -> bool:
    request = await pages.hr.approvals.get(approval, ANA)
    return request is not None and request.status == "pending"


ALTERED = {
    "what is shown": {"args": json.dumps(HARMLESS)},
    "what is shown and its digest": {"args": json.dumps(HARMLESS), "args_hash": digest_of(HARMLESS)},
    "the digest": {"args_hash": digest_of(HARMLESS)},
    "the tool": {"tool": "data.purge"},
}


@pytest.mark.parametrize("columns", ALTERED.values(), ids=ALTERED.keys())
async def test_a_card_that_shows_other_things_than_would_run_cannot_be_approved(
    tmp_path: Path, columns: dict[str, str]
) -> None:
    async with approval_client(database=url(tmp_path)) as pages:
        asked = await pages.ask("data.update", **ASKED)
        assert 'data-act="approve"' in await pages.see(f"/approvals/{asked}")
        alter(tmp_path, asked, **columns)
        page = await pages.see(f"/approvals/{asked}")
        assert "What is kept for the run is not what is shown here" in words(page)
        assert 'data-act="approve"' not in page and 'data-act="edit"' not in page
        forced = await pages.decide(asked, "approve")
        assert forced.status_code == 409 and "Nothing was decided." in forced.text
        edited = await pages.decide(asked, "approve", edits=json.dumps(HARMLESS))
        assert edited.status_code == 409
        assert await is_open(pages, asked) and pages.ran == []
        assert (await pages.decide(asked, "reject", reason="altered")).status_code == 303


@pytest.mark.parametrize("columns", ALTERED.values(), ids=ALTERED.keys())
async def test_what_is_altered_while_somebody_looks_at_it_is_not_what_they_approve(
    tmp_path: Path, columns: dict[str, str]
) -> None:
    async with approval_client(database=url(tmp_path)) as pages:
        asked = await pages.ask("data.update", **ASKED)
        mark = await pages.mark(asked)
        alter(tmp_path, asked, **columns)
        answer = await pages.post_form(f"/approvals/{asked}/approve", shown=mark)
        assert answer.status_code == 409 and "not what you were shown" in words(answer.text)
        assert await is_open(pages, asked) and pages.ran == []


async def test_a_call_that_was_put_in_anothers_place_opens_for_nobody(tmp_path: Path) -> None:
    async with approval_client(database=url(tmp_path)) as pages:
        asked = await pages.ask("data.update", **ASKED)
        other = await pages.ask("data.purge", before="2020")
        mark = await pages.mark(asked)
        with closing(sqlite3.connect(tmp_path / "handrail.db")) as conn:
            [sealed] = conn.execute("SELECT sealed FROM approvals WHERE id = ?", (other,)).fetchone()
        alter(tmp_path, asked, sealed=sealed)
        answer = await pages.post_form(f"/approvals/{asked}/approve", shown=mark)
        assert answer.status_code == 409 and "was changed, or belongs to another place" in answer.text
        assert f"ask-{other}" in await pages.see("/approvals"), "one that cannot be read hides no other"
        assert pages.ran == []


@pytest.mark.parametrize(
    "columns",
    [
        {"args_hash": digest_of(HARMLESS)},
        {"effective_hash": digest_of(HARMLESS)},
    ],
    ids=["arguments", "effective arguments"],
)
async def test_what_is_altered_after_the_yes_does_not_run(tmp_path: Path, columns: dict[str, str]) -> None:
    async with approval_client(database=url(tmp_path), worker=False) as pages:
        asked = await pages.ask("data.update", **ASKED)
        assert (await pages.decide(asked, "approve")).status_code == 303
    alter(tmp_path, asked, **columns)
    async with approval_client(database=url(tmp_path)) as pages:
        outcome = await pages.ended(asked)
        assert outcome.status == "refused" and outcome.code == "NOT_APPROVED", outcome
        assert pages.ran == []


async def test_without_any_of_this_the_same_way_ends_in_a_run(tmp_path: Path) -> None:
    async with approval_client(database=url(tmp_path), worker=False) as pages:
        asked = await pages.ask("data.update", **ASKED)
        assert (await pages.decide(asked, "approve")).status_code == 303
    async with approval_client(database=url(tmp_path)) as pages:
        assert (await pages.ended(asked)).ok and pages.ran == [("update", "rec-1", "archived", 0, "")]
