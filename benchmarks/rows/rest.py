"""A call over REST against a bare route that validates and runs the same function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.environments import OWN, Peers
from benchmarks.load import Request, post
from benchmarks.measured_servers import LoadedRequest, Server, time_served
from benchmarks.row import Ratio, Row, at_least
from benchmarks.sample_tool import NAME
from benchmarks.timing import Effort

TITLE = "A call over REST, against a bare FastAPI route"

_BARE = "bare FastAPI route"
_MEMORY = "REST call, in memory"
_DURABLE = "REST call, durable events on SQLite"
_NUMBERS = {"a": 1, "b": 2}


def measure(peers: Peers, effort: Effort) -> list[Row]:
    def ours(*arguments: str) -> Server:
        return Server("benchmarks.subjects.server", OWN, arguments)

    times = time_served(
        [
            LoadedRequest(_BARE, Server("benchmarks.subjects.bare_route", OWN), _bare),
            LoadedRequest(_MEMORY, ours("memory"), _rest),
            LoadedRequest(_DURABLE, ours("sqlite"), _rest),
        ],
        effort,
    )
    bare = times[_BARE]
    rows = [Row(_BARE, bare)]
    for name, least in ((_MEMORY, 0.6), (_DURABLE, 0.4)):
        # a rate is the inverse of a cost
        ratio = Ratio(bare, times[name], "{:.0%} of the rate of the bare route")
        rows.append(Row(name, times[name], ratio, at_least(least)))
    return rows


def _bare(announced: Mapping[str, Any]) -> Request:
    return post(announced["port"], f"/{NAME}", {}, _NUMBERS, b'{"result":3}')


def _rest(announced: Mapping[str, Any]) -> Request:
    key = {"Authorization": f"Bearer {announced['key']}"}
    path = f"/api/tools/{NAME}/call"
    return post(announced["port"], path, key, {"arguments": _NUMBERS}, b'"success":true,"data":3')
