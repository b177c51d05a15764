"""A platform in the middle of its day: what ran, what failed, what waits, who works together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.acceptance.server_process import ServerProcess, running_server

ROI = {"initialCost": 120_000, "yearlyBenefit": 68_000}


@dataclass
class DemoServer:
    """A server, and where its things are."""

    served: ServerProcess
    places: dict[str, str]
    """Paths of pages, by the name of what they show."""


@contextmanager
def demo_server(folder: Path) -> Iterator[DemoServer]:
    with running_server(folder, "--demo") as served:
        key = served.key("setup", "--kind", "person", "--for", served.owner(), "--role", "owner")
        agent = served.key("ops", "--for", served.owner(), "--kind", "agent", "--role", "owner")
        with served.http(key) as http, served.http(agent) as ops:
            yield DemoServer(served, _lively(http, ops))


def _lively(http: httpx.Client, ops: httpx.Client) -> dict[str, str]:
    for words in ({"region": "EMEA"}, {"limit": 3}):
        _call(http, "data-search-records", words)
    done = _call(http, "roi-calculator", ROI)
    _call(http, "data-get-record-detail", {"id": "rec-404"}, refused=True)
    asked = _call(ops, "data-update-record", {"id": "rec-001", "status": "inactive"})
    session = http.post("/api/tool-sessions", json={"tool": "quick-score", "title": "Which idea first?"})
    embed = http.post("/api/embeds", json={"title": "Try it", "tools": ["roi-calculator"]})
    assert embed.status_code == 201, embed.text
    return {
        "embed": embed.json()["url"],
        "result": f"/tools/roi-calculator?call={done['call_id']}",
        "run": f"/runs/{done['call_id']}",
        "approval": f"/approvals/{asked['approval']['id']}",
        "shared": f"/tools/quick-score/session/{session.json()['id']}",
    }


def _call(http: httpx.Client, slug: str, arguments: dict[str, Any], refused: bool = False) -> dict[str, Any]:
    answer = http.post(f"/api/tools/{slug}/call", json={"arguments": arguments})
    assert refused or answer.status_code in (200, 202), answer.text
    told: dict[str, Any] = answer.json()
    return told
