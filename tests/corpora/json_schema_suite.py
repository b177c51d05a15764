"""The JSON Schema Test Suite, draft 2020-12: its files, schemas and cases as they stand in the data set."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Kind = Literal["required", "optional", "format"]

HOST = "http://localhost:1234/"
"""Where the suite's schemas expect its remote ones."""


@dataclass(frozen=True, slots=True)
class Case:
    """One value, and whether its schema takes it."""

    name: str
    """The file and a JSON pointer into it: `anyOf.json#/1/tests/0`."""
    title: str
    data: Any
    valid: bool


@dataclass(frozen=True, slots=True)
class Group:
    """One schema and its cases."""

    schema: Any
    cases: tuple[Case, ...]


class Suite:
    """The suite in one folder."""

    def __init__(self, folder: Path) -> None:
        self._tests = folder / "tests" / "draft2020-12"
        remotes = folder / "remotes"
        self.remotes: Mapping[str, Any] = {
            HOST + path.relative_to(remotes).as_posix(): _read(path)
            for path in sorted(remotes.rglob("*.json"))
        }

    def files(self, kind: Kind) -> list[str]:
        """The names of the files of one kind, sorted."""
        paths = sorted(self._tests.rglob("*.json"))
        names = [path.relative_to(self._tests).as_posix() for path in paths]
        return [name for name in names if _kind(name) == kind]

    def groups(self, file: str) -> list[Group]:
        """What a file holds, in its order."""
        return [
            Group(
                group["schema"],
                tuple(
                    Case(
                        f"{file}#/{place}/tests/{index}",
                        f"{group['description']}: {case['description']}",
                        case["data"],
                        case["valid"],
                    )
                    for index, case in enumerate(group["tests"])
                ),
            )
            for place, group in enumerate(_read(self._tests / file))
        ]

    def cases(self, kind: Kind) -> list[Case]:
        """Every case of one kind."""
        return [case for file in self.files(kind) for group in self.groups(file) for case in group.cases]


def _kind(file: str) -> Kind:
    if file.startswith("optional/format/"):
        return "format"
    return "optional" if file.startswith("optional/") else "required"


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
