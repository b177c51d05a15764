"""A database with two tenants whose clock a test turns, and everything of identity over it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from handrail.store.database import Database
from tests.contract.households import Turning, household
from tests.contract.identity.homes import ACME, OTHER, House


@pytest.fixture
def turning() -> Turning:
    return Turning()


@pytest.fixture
def db(database_url: str, turning: Turning) -> Iterator[Database]:
    with household(database_url, turning, ACME, OTHER) as db:
        yield db


@pytest.fixture
def house(db: Database) -> House:
    return House(db)
