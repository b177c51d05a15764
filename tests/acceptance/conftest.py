"""What the tests of whole programs share."""

from __future__ import annotations

import pytest

from tests.acceptance.forked_cli import ForkedCli


@pytest.fixture(scope="session")
def forked_cli() -> ForkedCli:
    """The command line, started at once."""
    return ForkedCli()
