"""Measures Handrail and its peers, prints a table and keeps the figures as JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    # Run as a file, Python looks for modules beside it; the package is one folder up.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from benchmarks import report
from benchmarks.rows import ALL
from benchmarks.timing import QUICK, Effort

RESULTS = Path(__file__).resolve().parent / "results"

_DISTRIBUTIONS = ("pydantic", "openai-agents", "fastmcp", "langchain-core", "pydantic-ai-slim")
_VERSIONS = """
import json, sys
from importlib.metadata import PackageNotFoundError, version
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = version(name)
    except PackageNotFoundError:
        pass
print(json.dumps(found))
"""


def main() -> int:
    options = _options()
    peers = _python(options.peers)
    effort = QUICK if options.quick else Effort()
    sections = {}
    for name in options.only or ALL:
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        sections[ALL[name].TITLE] = ALL[name].measure(peers, effort)

    now = datetime.now(UTC)
    document = {
        "at": now.isoformat(timespec="seconds"),
        "machine": _machine(),
        "quick": bool(options.quick),
        "versions": {"ours": _versions(sys.executable), "peers": _versions(peers) if peers else None},
        "sections": report.as_json(sections),
    }
    text = json.dumps(document, indent=2, ensure_ascii=False)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{now:%Y%m%dT%H%M%SZ}.json").write_text(text + "\n")
    print(text if options.json else report.table(sections))

    kept = all(row.verdict in (None, "reached") for rows in sections.values() for row in rows)
    return 1 if options.check and not kept else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--peers",
        metavar="PYTHON",
        default=os.environ.get("HANDRAIL_PEERS_PYTHON"),
        help="the Python that has the peers installed (default: HANDRAIL_PEERS_PYTHON)",
    )
    parser.add_argument("--only", action="append", choices=list(ALL), help="measure this alone (repeatable)")
    parser.add_argument("--quick", action="store_true", help="fewer, shorter rounds: a look, not a figure")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument(
        "--check", action="store_true", help="exit with 1 unless every budget was measured and reached"
    )
    return parser.parse_args()


def _python(given: str | None) -> str | None:
    if not given:
        return None
    # The link itself, not what it points to, makes a virtual environment's Python.
    python = os.path.abspath(given)
    if not os.access(python, os.X_OK):
        print(f"no Python at {given}: the peers will not be measured", file=sys.stderr)
        return None
    return python


def _versions(python: str) -> dict[str, str]:
    done = subprocess.run(
        [python, "-P", "-c", _VERSIONS, *_DISTRIBUTIONS], capture_output=True, text=True, check=True
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


def _machine() -> dict[str, Any]:
    return {"python": platform.python_version(), "system": platform.system(), "cores": os.cpu_count()}


if __name__ == "__main__":
    sys.exit(main())
