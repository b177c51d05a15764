"""A small repository to walk through: a package, and a test that fails.

python -m examples.small_repository ~/prices
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FILES = {
    "prices/__init__.py": '"""Prices with a discount."""\n',
    "prices/discount.py": '''"""What a customer pays."""


def discounted(price: float, percent: float) -> float:
    """The price less some percent."""
    return price - price * percent


def total(prices: list[float], percent: float = 0) -> float:
    """What all of them cost together."""
    return sum(discounted(price, percent) for price in prices)
''',
    "tests/__init__.py": "",
    "tests/test_discount.py": """import unittest

from prices.discount import discounted, total


class Discount(unittest.TestCase):
    def test_ten_percent_off(self) -> None:
        self.assertEqual(discounted(200, 10), 180)

    def test_a_total_without_discount(self) -> None:
        self.assertEqual(total([1, 2]), 3)
""",
    "README.md": "# prices\n\nRun the tests with `python3 -m unittest`.\n",
    ".gitignore": "__pycache__/\nbin/\n*.log\n",
    "build.log": "discounted: an old log that git ignores\n",
}
_GIT = ("git", "-c", "user.name=Ana", "-c", "user.email=ana@example.com", "-c", "commit.gpgsign=false")


def make(folder: Path, **more: str) -> None:
    """Write the files, and commit what git does not ignore."""
    for name, text in (FILES | more).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for arguments in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "Prices")):
        subprocess.run([*_GIT, *arguments], cwd=folder, check=True, stdin=subprocess.DEVNULL)


def main() -> None:
    """Make it in the folder that is named, with the settings of the walk."""
    folder = Path(sys.argv[1])
    if folder.exists():
        sys.exit(f"{folder} is there already: name a folder that is not")
    make(folder, **{"handrail.toml": '[workspace]\nroot = "."\n'})
    print(f"Now: cd {folder} && handrail doctor")


if __name__ == "__main__":
    main()
