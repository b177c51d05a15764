"""What the tests of whole programs share."""

from __future__ import annotations

import pytest

from tests.acceptance.quick import Quick


@pytest.fixture(scope="session")
def quick() -> Quick:
    """The command line, started at once."""
    return Quick()
