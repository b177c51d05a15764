"""What must be true after a process was killed while it changed a file."""

from __future__ import annotations

import json
import os
import random
import signal
import tempfile
from pathlib import Path
from typing import Any

from tests.acceptance.files.dying_process import CHANGES, OLD
from tests.harness.fork_server import ForkServer

PRELOAD = ("tests.acceptance.files.dying_process",)
EFFECT_FILES = (
    "save.py",
    "atomic_write.py",
    "path_resolution.py",
    "workspace.py",
    "disk_threads.py",
    "journal.py",
    "locks.py",
    "target_file.py",
    "database.py",
)
"""Where the disk is touched: half of the points are drawn from there."""


class CrashCheck:
    """Draws points from what a rehearsal of the same change passed."""

    def __init__(self, fork_server: ForkServer) -> None:
        self._fork_server = fork_server
        self._passed: dict[str, list[list[Any]]] = {}

    def points(self, name: str) -> list[list[Any]]:
        """Every line that the change passes, at the first time and at the last."""
        if name not in self._passed:
            with tempfile.TemporaryDirectory(prefix="crash-") as place:
                assert self._change(Path(place), name, None) == 0
                self._passed[name] = json.loads((Path(place) / "told").read_text())
        return [
            [file, function, line, time]
            for file, function, line, times in self._passed[name]
            for time in sorted({1, times})
        ]

    def draw(self, name: str, seed: int, count: int) -> list[list[Any]]:
        chance = random.Random(seed)
        points = self.points(name)
        effects = [one for one in points if one[0].endswith(EFFECT_FILES)]
        return [chance.choice(effects if nth % 2 else points) for nth in range(count)]

    def crash(self, name: str, at: list[Any]) -> bool:
        """Kill a process there and look at what is left; whether the new content was in place."""
        tool, _, path, (before, after) = CHANGES[name]
        with tempfile.TemporaryDirectory(prefix="crash-") as place:
            root = Path(place) / "root"
            code = self._change(Path(place), name, at)
            assert code in (0, -signal.SIGKILL), f"{name} at {at} ended with {code}"
            file = root / path
            found = file.read_text() if file.exists() else None
            assert found in (before, after), f"{name} at {at} left {len(found or '')} characters"
            shown = {one for _, _, names in os.walk(root) for one in names if one.startswith(".handrail-")}
            hidden = (
                set(os.listdir(root / ".handrail/drafts")) if (root / ".handrail/drafts").exists() else set()
            )
            assert shown <= hidden, f"{name} at {at} left {shown} for all to see"
            told = Path(place) / "told"
            assert (
                self._fork_server.run(
                    "tests.acceptance.files.dying_process:go_on", root=str(root), name=name, told=str(told)
                )
                == 0
            )
            wrote, undid = json.loads(told.read_text())
            assert wrote is None
            assert os.listdir(root / ".handrail/drafts") == [], f"{name} at {at} left drafts behind"
            expected = None if found == after else "NOTHING_TO_UNDO"
            assert undid == expected, f"{name} at {at}: undo of {tool} said {undid}"
            assert (file.read_text() if file.exists() else None) == before
            return found == after

    def _change(self, place: Path, name: str, at: list[Any] | None) -> int:
        root = place / "root"
        root.mkdir()
        (root / "a.txt").write_text(OLD)
        return self._fork_server.run(
            "tests.acceptance.files.dying_process:change",
            root=str(root),
            name=name,
            at=at,
            told=str(place / "told"),
        )
