"""Files under tools, undos, strangers and restarts, beside a model that knows what each must hold."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from handrail import Outcome
from tests.unit.toolsets.workspace.changes.open_workspace import OpenWorkspace

PATHS = st.sampled_from(["a.txt", "b.bin", "sub/c.txt", "sub/deep/d.txt"])
MARKS = [b"", b"\xef\xbb\xbf", b"\xff\xfe"]
PARTS = st.sampled_from([b"one\n", b"two\r\n", b"three\r", b"\0\x80", "größe\n".encode(), b"one\n"])
CONTENTS = st.builds(
    lambda mark, parts: mark + b"".join(parts), st.sampled_from(MARKS), st.lists(PARTS, max_size=3)
)
TEXTS = st.sampled_from(["one\n", "one two\n", "\ufeffone\r\n", "größe", ""])
NEW_FILE = 0o666


@dataclass
class File:
    data: bytes
    mode: int


@dataclass
class Change:
    """A change in the model: what it did, whether that is undone, when and where it was last turned over."""

    path: str
    before: bytes | None
    after: bytes | None
    mode: int | None
    turn: int
    made: int
    last: int
    undone: bool = False
    toggled_in: int | None = None

    @property
    def now(self) -> bytes | None:
        return self.before if self.undone else self.after

    @property
    def then(self) -> bytes | None:
        return self.after if self.undone else self.before


class UndoMachine(RuleBasedStateMachine):
    """Every file holds the bytes and the mode of the model, or the undo named it as changed elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.runner = asyncio.Runner()
        self.opened, self.beside = OpenWorkspace(self.root), OpenWorkspace(self.root)
        self.new = NEW_FILE & ~_umask()
        self.files: dict[str, File] = {}
        self.changes: list[Change] = []
        self.turn = 1
        self.tick = 0

    def teardown(self) -> None:
        self.opened.close()
        self.beside.close()
        self.runner.close()
        shutil.rmtree(self.root)

    # what tools do

    @rule(path=PATHS, text=TEXTS)
    def write_file(self, path: str, text: str) -> None:
        self._tool("write_file", path, content=text)

    @rule(path=PATHS, replace=TEXTS)
    def edit_file(self, path: str, replace: str) -> None:
        self._tool("edit_file", path, search="one", replace=replace, replace_all=True)

    @rule(path=PATHS)
    def file_delete(self, path: str) -> None:
        self._tool("file_delete", path)

    # what tools do, with any bytes

    @rule(path=PATHS, data=CONTENTS)
    def write(self, path: str, data: bytes) -> None:
        self.opened.put(path, data, turn=self.turn)
        self._changed(path, data)

    @rule(path=PATHS, part=PARTS)
    def edit(self, path: str, part: bytes) -> None:
        if path in self.files:
            self.write(path, self.files[path].data + part)

    @rule(path=PATHS)
    def delete(self, path: str) -> None:
        if path in self.files:
            self.opened.put(path, None, turn=self.turn)
            self._changed(path, None)

    @rule()
    def next_turn(self) -> None:
        self.turn += 1

    # what others do

    @rule(path=PATHS, data=CONTENTS)
    def outside_write(self, path: str, data: bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        if path in self.files:
            self.files[path].data = data
        else:
            self.files[path] = File(data, self.new)

    @rule(path=PATHS)
    def outside_change_of_the_same_size_and_time(self, path: str) -> None:
        if path in self.files and self.files[path].data:
            file, old = self.root / path, self.files[path].data
            found = file.stat()
            self.files[path].data = bytes([old[0] ^ 1]) + old[1:]
            file.write_bytes(self.files[path].data)
            os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))

    @rule(path=PATHS, mode=st.sampled_from([0o600, 0o755]))
    def outside_mode(self, path: str, mode: int) -> None:
        if path in self.files:
            (self.root / path).chmod(mode)
            self.files[path].mode = mode

    @rule(path=PATHS)
    def outside_delete(self, path: str) -> None:
        if self.files.pop(path, None) is not None:
            (self.root / path).unlink()

    @rule(path=PATHS, data=CONTENTS)
    def another_tenant(self, path: str, data: bytes) -> None:
        self.opened.put(path, data, tenant="other", turn=self.turn)
        self._set(path, data, None)

    # undo

    @rule(path=PATHS, steps=st.integers(1, 3), preview=st.booleans())
    def undo_file(self, path: str, steps: int, preview: bool) -> None:
        standing = [one for one in self._newest() if one.path == path and not one.undone]
        args = {"path": path, "steps": steps, "preview": preview}
        self._undo("undo_file", args, standing[:steps], preview)

    @rule(path=PATHS)
    def redo_file(self, path: str) -> None:
        mine = [one for one in self._newest() if one.path == path]
        written = max((one.made for one in mine if not one.undone), default=0)
        undone = [one for one in mine if one.undone and one.last > written]
        self._undo("undo_file", {"path": path, "redo": True}, undone[:1])

    @rule(back=st.integers(0, 2), preview=st.booleans())
    def undo_turn(self, back: int, preview: bool) -> None:
        turn = max(self.turn - back, 1)
        steps = [one for one in self._newest() if _stands_in(one, turn)]
        args = {"turn": None if back == 0 else turn, "preview": preview}
        self._undo("undo_turn", args, steps, preview)

    @rule()
    def redo_turn(self) -> None:
        undone = [one for one in self._newest() if one.undone and one.turn == self.turn]
        self._undo("undo_turn", {"turn": self.turn, "redo": True}, undone)

    # lives

    @rule()
    def go_on_in_another_process(self) -> None:
        self.opened, self.beside = self.beside, self.opened

    @rule()
    def restart(self) -> None:
        self.opened.close()
        self.opened = OpenWorkspace(self.root)
        self.opened.changes.settle()

    @rule(path=PATHS, data=CONTENTS, put=st.booleans())
    def killed_in_a_change(self, path: str, data: bytes, put: bool) -> None:
        change = self.opened.change(path, data, turn=self.turn)
        self.opened.changes.record(change)
        if put:
            self.opened.apply(change)
            self._changed(path, data)
        self.restart()

    @invariant()
    def files_hold_what_the_model_says(self) -> None:
        found = [one for one in self.root.rglob("*") if one.is_file() and ".handrail" not in one.parts]
        real = {
            one.relative_to(self.root).as_posix(): File(one.read_bytes(), one.stat().st_mode & 0o777)
            for one in found
        }
        assert real == self.files

    # the model

    def _tool(self, tool: str, path: str, **args: Any) -> None:
        """What a tool made of a file is read from it; that nothing else changed is what the model says."""
        out = self.runner.run(self.opened.call(tool, {"path": path, **args}, turn=self.turn))
        left = self.opened.read(path)
        if out.ok:
            self._changed(path, left)

    def _newest(self) -> list[Change]:
        return sorted(self.changes, key=lambda one: -one.last)

    def _changed(self, path: str, data: bytes | None) -> None:
        old = self.files.get(path)
        before = None if old is None else old.data
        self.tick += 1
        if before != data:
            mode = None if old is None else old.mode
            self.changes.append(Change(path, before, data, mode, self.turn, self.tick, self.tick))
        self._set(path, data, None)

    def _set(self, path: str, data: bytes | None, mode: int | None) -> None:
        if data is None:
            self.files.pop(path, None)
        elif path in self.files:
            self.files[path].data = data
        else:
            self.files[path] = File(data, self.new if mode is None else mode)

    def _undo(self, tool: str, args: dict[str, Any], steps: list[Change], preview: bool = False) -> None:
        out: Outcome = self.runner.run(self.opened.call(tool, args, turn=self.turn))
        if not steps:
            assert out.result.code in ("NOTHING_TO_UNDO", "NOTHING_TO_REDO"), out.result
            return
        held = {path: file.data for path, file in self.files.items()}
        clashing = set()
        for one in steps:
            if held.get(one.path) != one.now:
                clashing.add(one.path)
            if one.then is None:
                held.pop(one.path, None)
            else:
                held[one.path] = one.then
        if clashing:
            assert out.result.code == "CHANGED_ELSEWHERE" and out.result.error is not None
            assert set(out.result.error.partition(": changed")[0].split(", ")) == clashing
            return
        assert out.status == "completed", out.result
        if not preview:
            for one in steps:
                self._turn_over(one)

    def _turn_over(self, one: Change) -> None:
        old = self.files.get(one.path)
        self._set(one.path, one.then, one.mode)
        self.tick += 1
        one.mode = None if old is None else old.mode
        one.undone, one.last, one.toggled_in = not one.undone, self.tick, self.turn


def _stands_in(one: Change, turn: int) -> bool:
    """Whether undoing the turn turns this over: it is of the turn, or was turned over in it."""
    if one.turn == turn:
        return not one.undone
    return one.toggled_in == turn


def _umask() -> int:
    old = os.umask(0)
    os.umask(old)
    return old
