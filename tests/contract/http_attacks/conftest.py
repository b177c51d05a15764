"""One server with two tenants for each file of attacks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.http_attacks.attacked_server import AttackedServer, attacked_server


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AttackedServer]:
    folder = tmp_path_factory.mktemp("attacked")
    with attacked_server(f"sqlite:///{folder / 'handrail.db'}") as found:
        yield found
