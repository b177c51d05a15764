"""A file of a thousand lines read and edited through the whole pipeline, and by plain Python."""

import os
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from benchmarks.subject_process import main
from benchmarks.timing import Subject
from handrail import Handrail, Outcome, Policy, Principal
from handrail.toolsets.workspace.toolset import WorkspaceToolset

SOMEBODY = Principal(tenant="acme", user="u1")
LINES = 1_000
_TEXT = "".join(f"name{number} = {number}\n" for number in range(LINES))
_OLD, _NEW = "name500 = 500\n", "name500 = 'five hundred'\n"

_place = tempfile.TemporaryDirectory(prefix="handrail-bench-")


async def subjects() -> Sequence[Subject]:
    root = Path(_place.name)
    (root / "plain.txt").write_text(_TEXT)
    (root / "ours.txt").write_text(_TEXT)
    hr = Handrail(
        [WorkspaceToolset(root, tenant="acme")], policy=Policy(approval_mode="danger", moderate="allow")
    )
    return (
        Subject("plain read", _times(_plainly(lambda: read(root / "plain.txt"))), _has_all_lines),
        Subject("read_file", _times(lambda: _read(hr)), _has_all_lines),
        Subject("plain edit", _turns(lambda old, new: edit(root / "plain.txt", old, new)), bool),
        Subject("edit_file", _edits(hr), _is_edited),
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


async def _read(hr: Handrail) -> str:
    outcome = await hr.call("read_file", {"path": "ours.txt"}, principal=SOMEBODY)
    return outcome.to_model()


def _times(once: Callable[[], Awaitable[object]]) -> Callable[[int], Awaitable[object]]:
    async def loop(number: int) -> object:
        for _ in range(number):
            last = await once()
        return last

    return loop


def _plainly(once: Callable[[], object]) -> Callable[[], Awaitable[object]]:
    async def done() -> object:
        return once()

    return done


def _turns(once: Callable[[str, str], object]) -> Callable[[int], Awaitable[object]]:
    """There and back again."""
    pair = [_OLD, _NEW]

    async def loop(number: int) -> object:
        for _ in range(number):
            last = once(*pair)
            pair.reverse()
        return last

    return loop


def _edits(hr: Handrail) -> Callable[[int], Awaitable[object]]:
    pair = [_OLD, _NEW]

    async def loop(number: int) -> object:
        for _ in range(number):
            args = {"path": "ours.txt", "search": pair[0], "replace": pair[1]}
            last = await hr.call("edit_file", args, principal=SOMEBODY, source="agent")
            pair.reverse()
        return last

    return loop


def _has_all_lines(told: object) -> bool:
    return isinstance(told, str) and told.count("\n") == LINES - 1 and told.endswith("name999 = 999")


def _is_edited(outcome: object) -> bool:
    return isinstance(outcome, Outcome) and outcome.ok and outcome.result.data["added"] == 1


if __name__ == "__main__":
    main(subjects)
