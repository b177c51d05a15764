"""A database with two tenants whose clock a test turns, and everything of identity over it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from handrail.store.database import Database
from tests.contract.identity.setup import ACME, OTHER, IdentitySetup
from tests.contract.tenant_database import FakeTime, tenant_database


@pytest.fixture
def turning() -> FakeTime:
    return FakeTime()


@pytest.fixture
def db(database_url: str, turning: FakeTime) -> Iterator[Database]:
    with tenant_database(database_url, turning, ACME, OTHER) as db:
        yield db


@pytest.fixture
def identity(db: Database) -> IdentitySetup:
    return IdentitySetup(db)
