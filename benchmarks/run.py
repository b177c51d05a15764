"""Measures Handrail and its peers, prints a table, keeps the figures as JSON and judges every row."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import traceback
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    # Run as a file, Python looks for modules beside it; the package is one folder up.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks import report
from benchmarks.environments import OWN, PEERS, Peers
from benchmarks.row import Row
from benchmarks.rows import ALL, RowModule
from benchmarks.timing import QUICK, Effort, NotMeasured

RESULTS = Path(__file__).resolve().parent / "results"

_PEERS = {
    "openai_agents": "openai-agents",
    "pydantic_ai": "pydantic-ai-slim",
    "fastmcp": "fastmcp",
    "langchain": "langchain-core",
}
"""The distribution of each peer."""


def main(
    arguments: Sequence[str] | None = None,
    modules: Mapping[str, RowModule] = ALL,
    results: Path = RESULTS,
) -> int:
    """The exit code: 0 if every row was measured and reached its budget or is known to miss it."""
    options = _options(arguments, modules)
    peers = Peers(options.peers)
    effort = QUICK if options.quick else Effort()
    sections: dict[str, list[Row]] = {}
    for name in options.only or modules:
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        sections[modules[name].TITLE] = _measure(name, modules[name], peers, effort)

    now = datetime.now(UTC)
    document = {
        "at": now.isoformat(timespec="seconds"),
        "machine": _machine(),
        "quick": bool(options.quick),
        "versions": {"ours": OWN.versions(["pydantic"]), "peers": _versions(peers)},
        "sections": report.as_json(sections),
    }
    text = json.dumps(document, indent=2, ensure_ascii=False)
    results.mkdir(exist_ok=True)
    (results / f"{now:%Y%m%dT%H%M%SZ}.json").write_text(text + "\n")
    print(text if options.json else report.table(sections) + "\n", flush=True)
    print(report.judgement(sections), file=sys.stderr if options.json else sys.stdout, flush=True)
    return 1 if report.has_failed(sections) else 0


def _measure(name: str, module: RowModule, peers: Peers, effort: Effort) -> list[Row]:
    """What breaks in one module is a row that was not measured: the figures of the others are kept."""
    try:
        return module.measure(peers, effort)
    except Exception as error:
        traceback.print_exc()
        return [Row(name, NotMeasured(f"{type(error).__name__}: {error}".rstrip(": ")))]


def _options(arguments: Sequence[str] | None, modules: Mapping[str, RowModule]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--peers",
        metavar="FOLDER",
        type=Path,
        default=PEERS,
        help="the folder with an environment for each peer (default: .venv-peers)",
    )
    parser.add_argument(
        "--only", action="append", choices=list(modules), help="measure this alone (repeatable)"
    )
    parser.add_argument("--quick", action="store_true", help="fewer, shorter rounds: a look, not a figure")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    return parser.parse_args(arguments)


def _versions(peers: Peers) -> dict[str, str | None]:
    return {
        distribution: peers.python(peer).versions([distribution]).get(distribution)
        for peer, distribution in _PEERS.items()
    }


def _machine() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
    }


if __name__ == "__main__":
    sys.exit(main())
