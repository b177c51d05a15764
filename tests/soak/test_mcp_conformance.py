"""The protocol's own conformance suite, against Handrail's MCP client: a process for each scenario.

Of those about signing in only one is run for each revision, to see that it does not pass.
"""

from __future__ import annotations

import sys

import pytest

from tests.mcp_suite.expectations import MEASURED, SIGNING, expected, verdicts
from tests.mcp_suite.suite import SUITE_RUNS, SuiteRun, listed, run_client

CLIENT = f"{sys.executable} -m tests.mcp_suite.client"
SIGNS_IN = ("auth/metadata-default", "auth/token-endpoint-auth-none")


@pytest.mark.req("MC-04", "MC-07")
@pytest.mark.parametrize("leg", SUITE_RUNS, ids=str)
def test_the_client_passes_every_scenario_that_applies(leg: SuiteRun) -> None:
    there = listed(leg, "client")
    signs_in = [name for name in SIGNS_IN if name in there][:1]
    scenarios = {name for name in there if not name.startswith(SIGNING)}.union(signs_in)
    wanted = expected("client", leg, scenarios)
    found = run_client(leg, CLIENT, *sorted(scenarios))
    assert verdicts(wanted, found) == wanted
    assert sum(len(one.good) for one in found.values()) == MEASURED["client"][leg]
