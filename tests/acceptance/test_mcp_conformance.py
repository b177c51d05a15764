"""The protocol's own conformance suite, against Handrail's MCP server: every scenario passes that applies."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.mcp_suite.applies import expected, verdicts
from tests.mcp_suite.serving import serving
from tests.mcp_suite.suite import LEGS, Leg, listed, run_server

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving() as found:
        yield found


@pytest.mark.req("MC-01", "MC-02", "MC-03")
@pytest.mark.parametrize("leg", LEGS, ids=str)
def test_the_server_passes_every_scenario_that_applies(leg: Leg, address: str) -> None:
    wanted = expected("server", leg, listed(leg, "server"))
    assert verdicts(wanted, run_server(leg, address)) == wanted
