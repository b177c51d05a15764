"""The project that the agent works on: one module with a bug, and its tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from handrail import ToolError
from handrail.ext.tools import path_key

FILES = {
    "prices.py": '''\
def discounted(price: float, percent: float) -> float:
    """The price after a discount."""
    return price - percent
''',
    "test_prices.py": """\
import unittest

from prices import discounted


class Discounts(unittest.TestCase):
    def test_ten_percent(self) -> None:
        self.assertEqual(discounted(200, 10), 180)

    def test_nothing_off(self) -> None:
        self.assertEqual(discounted(200, 0), 200)
""",
}


def lay_out(folder: Path) -> None:
    """Write the project into a folder."""
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")


def inside(folder: Path, path: str) -> Path:
    """A file of the project, and no other."""
    root = folder.resolve()
    file = (root / path).resolve()
    if not file.is_relative_to(root):
        raise ToolError(f"{path} is outside the project. Give a path inside it.", code="OUTSIDE")
    if not file.exists():
        raise ToolError(f"There is no {path}. Look with file_list.", code="NO_SUCH_FILE")
    return file


def key(args: Any) -> str:
    """What a call with a path touches, however the path is spelled."""
    return path_key(args.path, "/project")


EVERYTHING = path_key("/project") + "/"
