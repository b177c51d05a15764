"""One server with two tenants for each file of attacks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.http_attacks.attacked_server import Premises, premises


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Premises]:
    folder = tmp_path_factory.mktemp("premises")
    with premises(f"sqlite:///{folder / 'handrail.db'}") as found:
        yield found
