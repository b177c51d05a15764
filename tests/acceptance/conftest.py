"""What the tests of whole programs share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.acceptance.quick import PRELOADED, Quick
from tests.harness.nursery import Nursery


@pytest.fixture(scope="session")
def quick() -> Iterator[Quick]:
    """The command line, started at once."""
    with Nursery(*PRELOADED) as nursery:
        yield Quick(nursery)
