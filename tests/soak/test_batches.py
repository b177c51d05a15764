"""Long passes of calls that touch each other and end in every way: thousands of them, held to a model."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.run.batch_model import ModelCall, check_batch, endings, plans


@pytest.mark.req("BP-02", "BP-09", "BP-11", "BY-11")
@pytest.mark.timeout(600)
@settings(max_examples=1500, deadline=None)
@given(plan=plans(endings, longest=40), limit=st.integers(1, 40))
async def test_many_long_passes(plan: list[ModelCall], limit: int) -> None:
    await check_batch(plan, limit)
