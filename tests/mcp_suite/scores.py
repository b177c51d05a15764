"""How a scenario went: whole scenarios count, and only what was really seen of the other side.

The suite's own count gives a point for what it sent itself (`wire-schema-valid`), even to a dead port, and
lets a scenario pass with warnings alone. Here a scenario passes when at least one check of its own succeeded
and none failed or warned.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_BAD = ("FAILURE", "WARNING")
_WHEN = re.compile(r"-\d{4}-\d\d-\d\dT[\d-]+Z\Z")


@dataclass(frozen=True)
class Score:
    """One scenario: which of its checks succeeded and which did not."""

    good: frozenset[str]
    bad: Mapping[str, str]
    """What was said of each check that failed or warned."""

    @property
    def passed(self) -> bool:
        return bool(self.good) and not self.bad


def score(checks: Iterable[Mapping[str, Any]]) -> Score:
    """The score of the checks that the suite tells of one scenario."""
    good: set[str] = set()
    bad: dict[str, str] = {}
    for check in checks:
        if check["status"] in _BAD:
            bad[check["id"]] = check.get("errorMessage") or check["description"]
        elif check["status"] == "SUCCESS" and not check["id"].startswith("wire-schema-"):
            good.add(check["id"])
    return Score(frozenset(good - bad.keys()), bad)


def scores(folder: Path, kind: str) -> dict[str, Score]:
    """The scores of all scenarios, from the folder that the suite wrote; kind is server or client."""
    found: dict[str, Score] = {}
    for file in folder.rglob("checks.json"):
        name = _WHEN.sub("", str(file.parent.relative_to(folder)))
        found[name.removeprefix("server-") if kind == "server" else name] = score(
            json.loads(file.read_text())
        )
    return found
