from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.http_attacks.attacked_server import AttackedServer, attacked_server
from tests.contract.web_attacks.sample_tenant import TOOLS, SampleTenant


@pytest.fixture(scope="module")
def web_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('pages') / 'handrail.db'}"


@pytest.fixture(scope="module")
def attacked(web_url: str) -> Iterator[AttackedServer]:
    """Two tenants with everything that pages tell of, on a server that listens."""
    with attacked_server(web_url, home=SampleTenant, tools=TOOLS) as found:
        yield found
