"""The conformance suite is installed as locked, and a score is worth something: nothing gives nothing."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.mcp_suite.packages import HERE, locked
from tests.mcp_suite.scores import score
from tests.mcp_suite.suite import SUITE_RUNS, SuiteRun, listed, run_server

pytestmark = pytest.mark.timeout(300)


def test_the_lock_names_no_host_and_every_package_has_its_digest() -> None:
    packages = {where: entry for where, entry in locked().items() if where}
    assert packages
    assert [where for where, entry in packages.items() if "resolved" in entry] == []
    assert [where for where, entry in packages.items() if not entry.get("integrity")] == []


def test_the_lock_fits_what_is_asked_for() -> None:
    asked = json.loads((HERE / "package.json").read_text())["dependencies"]
    assert locked()[""]["dependencies"] == asked


@pytest.mark.parametrize(
    ("checks", "passed"),
    [
        ([], False),
        ([("own", "SUCCESS")], True),
        ([("own", "INFO"), ("own", "SKIPPED")], False),
        ([("wire-schema-valid", "SUCCESS")], False),
        ([("own", "SUCCESS"), ("wire-schema-valid", "FAILURE")], False),
        ([("own", "SUCCESS"), ("other", "WARNING")], False),
        ([("own", "SUCCESS"), ("other", "FAILURE")], False),
        ([("own", "SUCCESS"), ("other", "SKIPPED")], True),
    ],
)
def test_a_scenario_passes_by_a_check_of_its_own_and_by_none_that_fails_or_warns(
    checks: list[tuple[str, str]], passed: bool
) -> None:
    told = [{"id": name, "status": status, "description": ""} for name, status in checks]
    assert score(told).passed is passed


def test_a_check_that_succeeds_once_and_fails_once_has_failed() -> None:
    told = [
        {"id": "own", "status": status, "description": "it"} for status in ("SUCCESS", "FAILURE", "SUCCESS")
    ]
    assert (score(told).good, score(told).bad) == (frozenset(), {"own": "it"})


@pytest.mark.parametrize("leg", SUITE_RUNS, ids=str)
def test_a_dead_port_passes_no_scenario(leg: SuiteRun) -> None:
    with socketserver.TCPServer(("127.0.0.1", 0), socketserver.BaseRequestHandler) as closed:
        port = closed.server_address[1]
    found = run_server(leg, f"http://127.0.0.1:{port}/mcp")
    assert found.keys() == listed(leg, "server")
    assert [name for name, one in found.items() if one.passed] == []


class _Refuses(BaseHTTPRequestHandler):
    """Answers everything with 401, as a server does to whoever shows no key."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(401)
        self.send_header("content-length", "0")
        self.end_headers()

    do_GET = do_DELETE = do_POST

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def refusing() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Refuses) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        server.shutdown()
        thread.join()


def test_a_server_that_refuses_everything_passes_no_scenario(refusing: str) -> None:
    assert [name for name, one in run_server(SUITE_RUNS[-1], refusing).items() if one.passed] == []
