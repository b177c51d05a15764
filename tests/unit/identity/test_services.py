"""Services: each one is built once for an open database."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from handrail.identity import services
from handrail.store.database import Database
from handrail.store.encryption import Seal

BUILT = (
    "Authenticator",
    "MemberAdmin",
    "KeyAdmin",
    "PasswordAdmin",
    "Preferences",
    "ToolSessions",
    "Aggregator",
    "Embeds",
)


def test_each_service_is_built_once(migrated_sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    built: Counter[str] = Counter()

    def counted(name: str, service: type[Any]) -> type[Any]:
        class Counted(service):  # type: ignore[misc]
            def __init__(self, *args: Any, **options: Any) -> None:
                built[name] += 1
                super().__init__(*args, **options)

        return Counted

    for name in BUILT:
        monkeypatch.setattr(services, name, counted(name, getattr(services, name)))
    database = Database(migrated_sqlite_url)
    try:
        services.Services(database, Seal([b"k" * 32]))
    finally:
        database.close()
    assert built == dict.fromkeys(BUILT, 1)
