"""The rows of the report, in its order. Each module has a `TITLE` and a `measure`."""

from __future__ import annotations

from typing import Protocol

from benchmarks.environments import Peers
from benchmarks.row import Row
from benchmarks.rows import (
    batch,
    command_line,
    durable_events,
    file_search,
    files,
    foreign_menu,
    imports,
    jobs,
    mcp_call,
    one_call,
    pages,
    rest,
    run_list,
    scale,
    shell,
    tenants,
    tool_search,
)
from benchmarks.timing import Effort


class RowModule(Protocol):
    """What a module own offers."""

    TITLE: str

    def measure(self, peers: Peers, effort: Effort) -> list[Row]:
        """Measure now; `peers` has the environments of the peers."""


ALL: dict[str, RowModule] = {
    "one_call": one_call,
    "scale": scale,
    "batch": batch,
    "search": tool_search,
    "tenants": tenants,
    "foreign_menu": foreign_menu,
    "rest": rest,
    "mcp_call": mcp_call,
    "pages": pages,
    "jobs": jobs,
    "durable": durable_events,
    "files": files,
    "shell": shell,
    "forest": file_search,
    "run_list": run_list,
    "imports": imports,
    "command_line": command_line,
}
