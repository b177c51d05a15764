"""Home without a browser: what a row says of what waits."""

from __future__ import annotations

import pytest

from handrail import Principal
from tests.unit.doors.web.pages.desks import desk, words


@pytest.mark.req("UI-17")
async def test_whoever_asked_at_a_terminal_is_called_by_their_id() -> None:
    local = Principal("acme", "local", permissions=["*"])
    async with desk() as pages:
        await pages.ask("data.update", who=local, id="rec-1")
        assert "asked for by local" in words(await pages.see("/", "bea"))
