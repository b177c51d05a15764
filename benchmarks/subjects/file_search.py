"""grep and glob over a hundred thousand files through the whole pipeline, and ripgrep itself."""

import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.file_tree import NEEDLE, NEEDLES, OF_A_KIND, make_file_tree
from benchmarks.subject_process import main
from benchmarks.timing import Subject
from handrail import Handrail, Principal
from handrail.toolsets.workspace import Workspace
from handrail.toolsets.workspace.search import ripgrep, search_tools
from handrail.toolsets.workspace.search.finder import Finder

SOMEBODY = Principal(tenant="acme", user="u1")
_BARE = ["--no-config", "--hidden"]

_folder = tempfile.TemporaryDirectory(prefix="handrail-bench-")


async def subjects() -> Sequence[Subject]:
    root = Path(_folder.name)
    make_file_tree(root)
    program = ripgrep.find_ripgrep()
    if program is None:
        raise RuntimeError("ripgrep is not installed: pip install 'handrail[workspace]'")
    workspace = Workspace(root)
    ours = Handrail(search_tools(workspace, Finder(workspace, program)))
    lines, files = {"pattern": NEEDLE}, {"pattern": "*.py"}
    lookahead = {"pattern": f"{NEEDLE}(?=)"}
    return (
        Subject("rg", _bare(root, [program, *_BARE, "-n", NEEDLE]), _is(NEEDLES)),
        Subject("grep", _call(ours, "grep", lines, "total_lines"), _is(NEEDLES)),
        Subject("rg --files -g", _bare(root, [program, *_BARE, "--files", "-g", "*.py"]), _is(OF_A_KIND)),
        Subject("glob", _call(ours, "glob", files, "total"), _is(OF_A_KIND)),
        Subject("glob by time", _call(ours, "glob", {**files, "sort": "modified"}, "total"), _is(OF_A_KIND)),
        Subject("grep with look-ahead", _call(ours, "grep", lookahead, "total_lines"), _is(NEEDLES)),
    )


def _bare(root: Path, command: list[str]) -> Callable[[int], Awaitable[object]]:
    async def loop(number: int) -> object:
        for _ in range(number):
            lines = _run(root, command)
        return lines

    return loop


def _run(root: Path, command: list[str]) -> int:
    done = subprocess.run(command, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return done.stdout.count(b"\n")


def _call(hr: Handrail, name: str, args: dict[str, Any], count: str) -> Callable[[int], Awaitable[object]]:
    async def loop(number: int) -> object:
        for _ in range(number):
            outcome = await hr.call(name, args, principal=SOMEBODY)
        return outcome.result.data[count]

    return loop


def _is(count: int) -> Callable[[object], bool]:
    return lambda matches: matches == count


if __name__ == "__main__":
    main(subjects)
