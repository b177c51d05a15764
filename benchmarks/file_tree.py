"""A hundred thousand small files in a thousand folders, as a large project has them."""

from __future__ import annotations

import os
from pathlib import Path

FILES = 100_000
_IN_A_FOLDER = 100
_ENDS = ("py", "js", "txt", "md", "go", "c", "h", "ts", "json", "css")
NEEDLE = "needle"
NEEDLES = FILES // _IN_A_FOLDER
"""Files that have the needle: one in each folder."""
OF_A_KIND = FILES // len(_ENDS)
"""Files of each end."""


def make_file_tree(root: Path, files: int = FILES) -> None:
    """Make them."""
    for number in range(files // _IN_A_FOLDER):
        folder = root / f"p{number // 100}" / f"q{number // 10 % 10}" / f"r{number % 10}"
        folder.mkdir(parents=True)
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        for at in range(_IN_A_FOLDER):
            name = f"f{at}.{_ENDS[at % len(_ENDS)]}"
            file = os.open(name, os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=fd)
            os.write(file, _text(number, at))
            os.close(file)
        os.close(fd)


def _text(number: int, at: int) -> bytes:
    body = f"line of {number}\nimport os\ndef function_{at}():\n    return {number}\n" * 4
    return (body + (f"a {NEEDLE} here\n" if at == 7 else "")).encode()
