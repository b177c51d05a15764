"""Home without a browser: what a row says of what waits."""

from __future__ import annotations

import pytest

from handrail import Principal
from tests.unit.doors.web.pages.approval_client import approval_client, words


@pytest.mark.req("UI-17")
async def test_whoever_asked_at_a_terminal_is_called_by_their_id() -> None:
    local = Principal("acme", "local", permissions=["*"])
    async with approval_client() as pages:
        await pages.ask("data.update", who=local, id="rec-1")
        assert "asked for by local" in words(await pages.see("/", "bea"))


@pytest.mark.fault("F29")
@pytest.mark.req("BY-02")
@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"id": "rec-1", "token": "s3cret"}, '"rec-1"'),
        ({"id": "<b>\u202e"}, '"<b>\\u202e"'),
        ({"id": "x" * 5_000}, '"' + "x" * 79 + "…"),
        ({"id": "rm" + " " * 5_000 + "y"}, '"rm' + "\\u0020" * 12 + "…"),
    ],
)
async def test_a_row_shows_the_first_text_that_is_asked_about(given: dict[str, str], shown: str) -> None:
    async with approval_client() as pages:
        await pages.ask("data.update", **given)
        page = await pages.see("/", "bea")
        assert f"Update a record {shown} asked for by agent “ops”" in words(page)
        assert "s3cret" not in page and "<b>\\u202e" not in page
