"""A file of a thousand lines read and edited through the whole pipeline, and by plain Python."""

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from itertools import cycle, islice
from pathlib import Path
from stat import S_IMODE
from tempfile import NamedTemporaryFile

from benchmarks.subject_process import main
from benchmarks.timing import Subject
from handrail import Handrail, Outcome, Policy, Principal
from handrail.toolsets.workspace.toolset import WorkspaceToolset

SOMEBODY = Principal(tenant="acme", user="u1")
LINES = 1_000
_FILES = 1_000
"""More than are kept of what was read."""
_TEXT = "".join(f"name{number} = {number}\n" for number in range(LINES))
_OLD, _NEW = "name500 = 500\n", "name500 = 'five hundred'\n"

Loop = Callable[[int], Awaitable[object]]

_place = tempfile.TemporaryDirectory(prefix="handrail-bench-")


async def subjects() -> Sequence[Subject]:
    root = Path(_place.name)
    names = [f"{number}.txt" for number in range(_FILES)]
    for name in ("plain.txt", "careful.txt", "beside.txt", "ours.txt", "plain.py", "ours.py", *names):
        (root / name).write_text(_TEXT)
    hr = Handrail(
        [WorkspaceToolset(root, tenant="acme")], policy=Policy(approval_mode="danger", moderate="allow")
    )
    return (
        Subject("plain read", _plain_reads(root, names), _has_all_lines),
        Subject("read_file", _reads(hr, names), _has_all_lines),
        Subject("read_file, seen before", _reads(hr, ["ours.txt"]), _has_all_lines),
        Subject("plain edit", _plain_edits(root / "plain.txt", edit), bool),
        Subject("careful edit", _plain_edits(root / "careful.txt", edit_carefully), bool),
        Subject("plain edit in a thread", _plain_edits_beside(root / "beside.txt"), bool),
        Subject("edit_file", _edits(hr, "ours.txt"), _is_edited),
        Subject("plain edit of Python, compiled", _plain_edits(root / "plain.py", edit_python), bool),
        Subject("edit_file of Python, syntax checked", _edits(hr, "ours.py"), _is_edited),
    )


def read(path: Path) -> str:
    """Open, decode, number the lines."""
    text = path.read_bytes().decode()
    return "\n".join([f"{number:6}\t{line}" for number, line in enumerate(text.splitlines(), 1)])


def edit(path: Path, old: str, new: str) -> bool:
    """Replace what is there once, and put the file in place as a whole."""
    text = path.read_bytes().decode()
    if text.count(old) != 1:
        return False
    beside = path.with_name(f".{path.name}.new")
    with open(beside, "wb") as file:
        file.write(text.replace(old, new).encode())
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
    return True


def edit_carefully(path: Path, old: str, new: str) -> bool:
    """The same under a name of its own, with the mode and owner that the file had."""
    text = path.read_bytes().decode()
    if text.count(old) != 1:
        return False
    status = path.stat()
    with NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(text.replace(old, new).encode())
        file.flush()
        os.fchown(file.fileno(), status.st_uid, status.st_gid)
        os.fchmod(file.fileno(), S_IMODE(status.st_mode))
        os.fsync(file.fileno())
    os.replace(file.name, path)
    return True


def edit_python(path: Path, old: str, new: str) -> bool:
    """The same, and whether it is Python afterwards."""
    done = edit(path, old, new)
    compile(path.read_bytes(), "<file>", "exec", dont_inherit=True)
    return done


def _plain_reads(root: Path, names: Sequence[str]) -> Loop:
    paths = cycle([root / name for name in names])

    async def loop(number: int) -> object:
        for path in islice(paths, number):
            last = read(path)
        return last

    return loop


def _reads(hr: Handrail, names: Sequence[str]) -> Loop:
    turns = cycle(names)

    async def loop(number: int) -> object:
        for name in islice(turns, number):
            last = (await hr.call("read_file", {"path": name}, principal=SOMEBODY)).to_model()
        return last

    return loop


def _plain_edits(path: Path, change: Callable[[Path, str, str], object]) -> Loop:
    """There and back again."""
    pair = [_OLD, _NEW]

    async def loop(number: int) -> object:
        for _ in range(number):
            last = change(path, *pair)
            pair.reverse()
        return last

    return loop


def _plain_edits_beside(path: Path) -> Loop:
    """As a program has to whose loop cannot wait for the disk."""
    pair = [_OLD, _NEW]

    async def loop(number: int) -> object:
        for _ in range(number):
            last = await asyncio.to_thread(edit, path, *pair)
            pair.reverse()
        return last

    return loop


def _edits(hr: Handrail, name: str) -> Loop:
    pair = [_OLD, _NEW]

    async def loop(number: int) -> object:
        for _ in range(number):
            args = {"path": name, "search": pair[0], "replace": pair[1]}
            last = await hr.call("edit_file", args, principal=SOMEBODY, source="agent")
            pair.reverse()
        return last

    return loop


def _has_all_lines(text: object) -> bool:
    return isinstance(text, str) and text.count("\n") == LINES - 1 and text.endswith("name999 = 999")


def _is_edited(outcome: object) -> bool:
    return isinstance(outcome, Outcome) and outcome.ok and outcome.result.data["added"] == 1


if __name__ == "__main__":
    main(subjects)
