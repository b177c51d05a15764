"""Blocks: the code in README and docs, and the regions of docs_src they are copies of.

A Python block in a page stands under a comment that names its source:

    <!-- docs_src/tools_function.py: tool -->

and equals what stands between `# region tool` and `# endregion` in that file, without the indentation. A text
block or a table under `<!-- output: docs_src/guard_explain.py -->` is part of what that file prints. After a
change in docs_src, `python -m tests.docs.code_blocks` copies the regions into the pages again.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "GLOSSARY.md", *sorted((ROOT / "docs").glob("*.md"))]
SOURCES = sorted((ROOT / "docs_src").glob("*.py"))

_REGION = re.compile(r"^[ ]*# region (?P<name>\w+)\n(?P<code>.*?)^[ ]*# endregion$", re.MULTILINE | re.DOTALL)
_FENCED = re.compile(
    r"(?P<head>^(?:<!-- (?P<source>\S+): (?P<region>\S+) -->\n)?```python\n)(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_OUTPUT = re.compile(
    r"^<!-- output: (?P<source>\S+) -->\n(?:```text\n(?P<text>.*?)^```$|(?P<table>(?:^\|[^\n]*\n)+))",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A Python block of a page."""

    page: str
    source: str | None
    """The file and region it claims to be a copy of; None when it names none."""
    region: str | None
    code: str


@dataclass(frozen=True)
class Printed:
    """A block of a page that shows what a file prints."""

    page: str
    source: str
    text: str


def regions(source: Path) -> dict[str, str]:
    """The regions of a file by name."""
    found = _REGION.finditer(source.read_text(encoding="utf-8"))
    return {one["name"]: textwrap.dedent(one["code"]).strip("\n") + "\n" for one in found}


def blocks() -> Iterator[Block]:
    """Every Python block of every page."""
    for page in PAGES:
        for found in _FENCED.finditer(page.read_text(encoding="utf-8")):
            yield Block(page.name, found["source"], found["region"], found["code"])


def printed() -> Iterator[Printed]:
    """Every block that claims to be the output of a file."""
    for page in PAGES:
        for found in _OUTPUT.finditer(page.read_text(encoding="utf-8")):
            yield Printed(page.name, found["source"], found["text"] or found["table"])


def fill(page: Path) -> None:
    """Copy the regions into the page's blocks again."""

    def copied(found: re.Match[str]) -> str:
        if found["source"] is None:
            return found[0]
        return f"{found['head']}{regions(ROOT / found['source'])[found['region']]}```"

    text = page.read_text(encoding="utf-8")
    page.write_text(_FENCED.sub(copied, text), encoding="utf-8")


if __name__ == "__main__":
    for page in PAGES:
        fill(page)
