"""What the long runs share with the tests of whole programs, and how they are told from other tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.conftest import forked_cli
from tests.acceptance.web.conftest import browser, windows

__all__ = ["browser", "forked_cli", "windows"]

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lies here, and begin with it: it takes longest, and nobody should wait for it at the end."""
    here = [item for item in items if item.path.is_relative_to(HERE)]
    for item in here:
        item.add_marker(pytest.mark.soak)
    items[:] = [*here, *(item for item in items if not item.path.is_relative_to(HERE))]
