"""The protocol's own conformance suite, against Handrail's MCP server and client.

All of the server's scenarios are run here, and some of the client's, each of which starts a process. The soak
has the rest.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.mcp_suite.docs_tables import PAGE, written
from tests.mcp_suite.expectations import MEASURED, PASSES, expected, verdicts
from tests.mcp_suite.server_process import running_server
from tests.mcp_suite.suite import ALPHA, STABLE, SUITE_RUNS, SuiteRun, listed, run_client, run_server

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]
CLIENT = f"{sys.executable} -m tests.mcp_suite.client"
SAMPLE = {
    SuiteRun(STABLE, "2025-11-25"): ("tools_call",),
    SuiteRun(ALPHA, "2026-07-28"): ("request-metadata", "http-custom-headers"),
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running_server() as found:
        yield found


@pytest.mark.req("MC-01", "MC-02", "MC-03")
@pytest.mark.parametrize("leg", SUITE_RUNS, ids=str)
def test_the_server_passes_every_scenario_that_applies(leg: SuiteRun, address: str) -> None:
    wanted = expected("server", leg, listed(leg, "server"))
    found = run_server(leg, address)
    assert verdicts(wanted, found) == wanted
    assert sum(len(one.good) for one in found.values()) == MEASURED["server"][leg]


@pytest.mark.req("MC-04", "MC-07")
@pytest.mark.parametrize("leg", SAMPLE, ids=str)
def test_the_client_passes_what_is_asked_of_every_client(leg: SuiteRun) -> None:
    found = run_client(leg, CLIENT, *SAMPLE[leg])
    assert verdicts({}, found) == dict.fromkeys(SAMPLE[leg], PASSES)


def test_the_page_says_what_is_measured() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == written(page), "write it again with: python -m tests.mcp_suite.docs_tables"
