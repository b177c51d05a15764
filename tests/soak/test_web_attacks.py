"""All nonsense that there is, to every form and every page."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.contract.http_attacks.attacked_server import AttackedServer, attacked_server
from tests.contract.web_attacks.page_requests import client
from tests.contract.web_attacks.sample_tenant import TOOLS, SampleTenant
from tests.contract.web_attacks.test_bad_input import bodies, queries, values


@pytest.fixture
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AttackedServer]:
    folder = tmp_path_factory.mktemp("pages")
    with attacked_server(f"sqlite:///{folder / 'handrail.db'}", home=SampleTenant, tools=TOOLS) as found:
        yield found


@pytest.mark.fault("F30")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("attack", [bodies, values, queries])
def test_no_page_breaks(
    attacked: AttackedServer, attack: Callable[[AttackedServer, httpx.Client, int], None]
) -> None:
    with client(attacked, "owner") as http:
        attack(attacked, http, 1_000)
