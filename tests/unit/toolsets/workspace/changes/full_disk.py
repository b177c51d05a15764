"""A disk that fills up while files are changed and undone: run as a program, on a small disk of its own."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.unit.toolsets.workspace.changes.open_workspace import OpenWorkspace

SIZE = 2_000_000
PAGE = 4_096
MOST = 24
"""Pages of room with which everything goes well."""


def on_a_small_disk(folder: Path) -> list[dict[str, Any]]:
    """What became of a change and of its undo, with each amount of room; at last, with none at its end."""
    disk = ["bwrap", "--dev-bind", "/", "/", "--size", str(SIZE), "--tmpfs", str(folder)]
    here = [sys.executable, "-m", __name__, str(folder)]
    done = subprocess.run([*disk, *here], capture_output=True, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def _leave(folder: Path, free_bytes: int) -> Path:
    """Fill the disk but for so many bytes."""
    ballast = folder / "ballast"
    free = os.statvfs(folder)
    ballast.write_bytes(b"\0" * max(free.f_bavail * free.f_frsize - free_bytes, 0))
    return ballast


async def _tried(root: Path, free_bytes: int) -> dict[str, Any]:
    texts = [f"{n}" * 9_000 for n in (1, 2)]
    opened = OpenWorkspace(root)
    report: dict[str, Any] = {"free_bytes": free_bytes}
    async with opened.handrail:
        await opened.call("write_file", {"path": "a.txt", "content": texts[0]})
        ballast = _leave(root.parent, free_bytes)
        for what, args in (
            ("write_file", {"path": "a.txt", "content": texts[1]}),
            ("undo_file", {"path": "a.txt"}),
        ):
            was = opened.read("a.txt")
            out = await opened.call(what, args)
            report[what] = {
                "code": out.code,
                "error": out.result.error,
                "changed": opened.read("a.txt") != was,
            }
        ballast.unlink()
        was, again = opened.read("a.txt"), texts[1].encode()
        was = texts[0].encode() if was == again else was
        await opened.call("write_file", {"path": "a.txt", "content": texts[1]})
        report["then"] = []
        for redo, held in ((False, was), (True, again), (False, was)):
            out = await opened.undo("a.txt", redo=redo)
            report["then"].append(out.code or opened.read("a.txt") == held)
    opened.close()
    return report


async def _full_before_it_is_marked(root: Path) -> dict[str, Any]:
    """The disk is full when an undo has happened, and before that is written down."""
    opened, ballast = OpenWorkspace(root), root.parent / "ballast"

    def fill_once(path: str | None) -> None:
        if not ballast.exists():
            _leave(root.parent, 0)

    async with opened.handrail:
        for text in ("1", "2"):
            await opened.call("write_file", {"path": "a.txt", "content": text})
        opened.workspace.listen(fill_once)
        await opened.undo("a.txt")
        ballast.unlink()
        ballast.touch()
        outs = [await opened.undo("a.txt", redo=redo) for redo in (True, False, False)]
    return {"ended": [out.code for out in outs], "left": opened.read("a.txt") is not None}


async def _all(folder: Path) -> list[dict[str, Any]]:
    found = []
    for pages in range(0, MOST + 1, 2):
        os.mkdir(root := folder / str(pages))
        found.append(await _tried(root, pages * PAGE))
    os.mkdir(root := folder / "marked")
    return [*found, await _full_before_it_is_marked(root)]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(_all(Path(sys.argv[1])))))
