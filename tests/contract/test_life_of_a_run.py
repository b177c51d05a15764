"""Whatever happens to calls, in whatever order, comes out as a simple model says."""

from __future__ import annotations

import pytest

from tests.harness.life import live, lives_in


@pytest.mark.req("BY-03", "BY-12")
def test_a_life_in_memory() -> None:
    with lives_in(lambda: None, survives=False) as life:
        live(life, examples=8, steps=20)
