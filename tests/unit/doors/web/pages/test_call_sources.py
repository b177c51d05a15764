"""Through what a call came: every source has its words, and the same ones on every page."""

from __future__ import annotations

import pytest

from handrail.core.define.levels import SOURCES, Source
from handrail.doors.web.timeline.texts import SOURCE_LABELS, DisplayNames, source_label, source_phrase
from tests.unit.doors.web.pages.approval_client import BOT, approval_client, words


def test_every_source_has_a_label_and_a_phrase() -> None:
    assert set(SOURCE_LABELS) == set(SOURCES)
    phrases = {source_phrase(source) for source in SOURCES}
    assert len(phrases) == len(SOURCES) and not phrases & {f"through {source}" for source in SOURCES}
    assert (source_phrase("fax"), source_label("fax")) == ("through fax", "fax")


@pytest.mark.parametrize("source", SOURCES)
async def test_an_approval_and_a_timeline_say_the_same_of_a_source(source: Source) -> None:
    async with approval_client() as pages:
        out = await pages.hr.call("data.purge", {"before": "2020"}, principal=BOT, source=source)
        assert out.approval_id is not None
        card = words(await pages.see(f"/approvals/{out.approval_id}"))
        assert f"{DisplayNames().through(source)}, asked just now" in card
