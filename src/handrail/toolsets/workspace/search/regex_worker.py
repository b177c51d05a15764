"""Regex worker: looks for a regular expression in files, as a program of its own that can be stopped.

It is run by its path, with nothing but the standard library. Standard input has a line of JSON that says what
to do, and after it, for `count`, the paths below the root, each with a NUL at its end.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import stat
import sys
from collections.abc import Iterator
from typing import Any

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = _OPEN | os.O_DIRECTORY
_MARKS = (
    (codecs.BOM_UTF8, "utf-8", "surrogateescape"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "replace"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "replace"),
)
_CHARACTERS_AROUND = 1_600
"""Characters of a long line that are told before and after the beginning of a match."""


def decode_lines(data: bytes) -> list[str]:
    """The lines of a file, without their ends."""
    for mark, encoding, errors in _MARKS:
        if data.startswith(mark):
            text = data[len(mark) :].decode(encoding, errors)
            break
    else:
        text = data.decode("utf-8", "surrogateescape")
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line[:-1] if line.endswith("\r") else line for line in lines]


class LinkFreeOpener:
    """Opens files below a root, part by part and never through a link. The way to the last one stays open."""

    def __init__(self, root: str) -> None:
        self._root = os.open(root, _FOLDER)
        self._at = ""
        self._way: list[tuple[str, int]] = []

    def open(self, path: str) -> int:
        folder, _, name = path.rpartition("/")
        return os.open(name, _OPEN, dir_fd=self.enter(folder))

    def enter(self, folder: str) -> int:
        """The folder, opened; it stays so until another one is."""
        if folder != self._at:
            self._go(folder.split("/") if folder else [])
            self._at = folder
        return self._way[-1][1] if self._way else self._root

    def __enter__(self) -> LinkFreeOpener:
        return self

    def __exit__(self, *_: object) -> None:
        self._leave(0)
        os.close(self._root)

    def _go(self, parts: list[str]) -> None:
        shared = 0
        while shared < min(len(parts), len(self._way)) and self._way[shared][0] == parts[shared]:
            shared += 1
        self._leave(shared)
        self._at = "/".join(parts[:shared])
        for part in parts[shared:]:
            above = self._way[-1][1] if self._way else self._root
            self._way.append((part, os.open(part, _FOLDER, dir_fd=above)))
            self._at = f"{self._at}/{part}" if self._at else part

    def _leave(self, depth: int) -> None:
        while len(self._way) > depth:
            os.close(self._way.pop()[1])


def count(task: dict[str, Any], paths: list[bytes], regex: re.Pattern[str]) -> Iterator[Any]:
    """[number of the path, matching lines] for each file with some; [number, -1] for a too large one."""
    folders = LinkFreeOpener(task["root"])
    for number, path in enumerate(paths):
        try:
            data = _data(folders.open(os.fsdecode(path)), task["largest"])
        except OSError:
            continue
        if data is None:
            yield [number, -1]
            continue
        lines = sum(1 for line in decode_lines(data) if regex.search(line))
        if lines:
            yield [number, lines]


def _data(fd: int, largest: int) -> bytes | None:
    """What a file holds; None for a too large one, and nothing for what is no file."""
    try:
        file_stat = os.fstat(fd)
        if not stat.S_ISREG(file_stat.st_mode):
            return b""
        if file_stat.st_size > largest:
            return None
        with open(fd, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(fd)


def show(task: dict[str, Any], regex: re.Pattern[str]) -> Iterator[Any]:
    """[descriptor, line, text around the match, where it begins or -1 for a line around one]."""
    before, after, most = task["before"], task["after"], task["most"]
    for fd in task["open"]:
        with os.fdopen(fd, "rb") as file:
            lines = decode_lines(file.read())
        matches: dict[int, int] = {}
        for number, line in enumerate(lines):
            if match := regex.search(line):
                matches[number] = match.start()
                if len(matches) == most:
                    break
        shown = {
            at
            for number in matches
            for at in range(max(0, number - before), min(len(lines), number + after + 1))
        }
        for number in sorted(shown):
            at = matches.get(number, -1)
            begin = max(0, at - _CHARACTERS_AROUND)
            yield [fd, number + 1, lines[number][begin : begin + 2 * _CHARACTERS_AROUND], at - begin]


def main() -> None:
    head, _, rest = sys.stdin.buffer.read().partition(b"\n")
    task = json.loads(head)
    regex = re.compile(task["pattern"], re.IGNORECASE if task["ignore_case"] else 0)
    answers = count(task, rest.split(b"\0")[:-1], regex) if task["do"] == "count" else show(task, regex)
    for answer in answers:
        sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
