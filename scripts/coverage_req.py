"""Which requirements and faults no test proves yet, and which marks name none.

Requirements and faults are the lines `- TD-01 ...` and `- F07 ...` of docs/spec; a test names what it
proves with `@pytest.mark.req("TD-01", "TD-02")` or `@pytest.mark.fault("F07")`.

Exit code 0: every mark names something, and the groups asked for are proved. 1: not so. 2: wrong usage.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["req", "fault"]

SPECS: dict[Kind, str] = {"req": "docs/spec/requirements.md", "fault": "docs/spec/faults.md"}
LINES: dict[Kind, re.Pattern[str]] = {
    "req": re.compile(r"^- (?P<id>(?P<group>[A-Z]{2,3})-\d+)\s"),
    "fault": re.compile(r"^- (?P<id>(?P<group>F)\d+)\s"),
}


class UsageError(Exception):
    """The question cannot be answered as it was asked."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One id that a test names, or an argument that is no literal id."""

    kind: Kind
    id: str | None
    file: str
    line: int

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: pytest.mark.{self.kind}"
        if self.id is None:
            return f"{place} needs its ids as literal strings"
        return f"{place} names {self.id!r}, which {SPECS[self.kind]} does not have"


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the specification asks for, beside what the tests name."""

    groups: dict[str, tuple[str, ...]]
    """The ids of each group, in the order of the specification."""
    proved: dict[str, tuple[Mark, ...]]
    """The marks that name each id; an id without one is absent."""
    unknown: tuple[Mark, ...]

    def unproved(self, group: str) -> tuple[str, ...]:
        return tuple(id for id in self.groups[group] if id not in self.proved)

    def demanded(self, names: Sequence[str]) -> tuple[str, ...]:
        """The unproved ids among the named groups and single ids."""
        ids: list[str] = []
        for name in names:
            if name in self.groups:
                ids.extend(self.unproved(name))
            elif any(name in group for group in self.groups.values()):
                ids.extend(() if name in self.proved else (name,))
            else:
                raise UsageError(f"no group or id {name!r}; the groups are {', '.join(self.groups)}")
        return tuple(dict.fromkeys(ids))


def read_spec(root: Path) -> dict[Kind, dict[str, tuple[str, ...]]]:
    """The ids of each kind, by group."""
    spec: dict[Kind, dict[str, tuple[str, ...]]] = {}
    for kind, name in SPECS.items():
        path = root / name
        if not path.is_file():
            raise UsageError(f"there is no {name} in {root}")
        groups: dict[str, list[str]] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            if match := LINES[kind].match(line):
                ids = groups.setdefault(match["group"], [])
                if match["id"] in ids:
                    raise UsageError(f"{name} has {match['id']} twice")
                ids.append(match["id"])
        spec[kind] = {group: tuple(ids) for group, ids in groups.items()}
    return spec


def find_marks(root: Path) -> Iterator[Mark]:
    """Every id that a mark under tests/ names: on a function, a class, a module or a parameter."""
    for path in sorted((root / "tests").rglob("*.py")):
        name = path.relative_to(root).as_posix()
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"), filename=name)
        except SyntaxError as error:
            raise UsageError(f"{name}:{error.lineno}: {error.msg}") from None
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (kind := _kind(node.func)):
                yield from _ids(kind, node, name)


def _kind(func: ast.expr) -> Kind | None:
    match func:
        case ast.Attribute(
            value=ast.Attribute(value=ast.Name("pytest"), attr="mark") | ast.Name("mark"),
            attr="req" | "fault" as kind,
        ):
            return "req" if kind == "req" else "fault"
    return None


def _ids(kind: Kind, call: ast.Call, file: str) -> Iterator[Mark]:
    if not call.args or call.keywords:
        yield Mark(kind, None, file, call.lineno)
    for argument in call.args:
        literal = isinstance(argument, ast.Constant) and isinstance(argument.value, str)
        yield Mark(kind, ast.literal_eval(argument) if literal else None, file, argument.lineno)


def measure(root: Path) -> Coverage:
    """Hold the marks of the tests against the specification."""
    spec = read_spec(root)
    known = {kind: {id for ids in groups.values() for id in ids} for kind, groups in spec.items()}
    proved: dict[str, tuple[Mark, ...]] = {}
    unknown: list[Mark] = []
    for mark in find_marks(root):
        if mark.id is not None and mark.id in known[mark.kind]:
            proved[mark.id] = (*proved.get(mark.id, ()), mark)
        else:
            unknown.append(mark)
    groups = {group: ids for by_group in spec.values() for group, ids in by_group.items()}
    return Coverage(groups, proved, tuple(unknown))


def as_text(coverage: Coverage, names: Sequence[str], demanded: Sequence[str]) -> str:
    """The report for a person: the named groups, or all of them."""
    shown = [group for group in coverage.groups if not names or group in names]
    lines = [_row(coverage, group) for group in shown]
    total = sum(len(coverage.groups[group]) for group in shown)
    missing = sum(len(coverage.unproved(group)) for group in shown)
    if shown:
        lines.append(f"{total - missing} of {total} proved")
    if demanded:
        lines.append(f"asked for, but not proved: {' '.join(demanded)}")
    lines.extend(str(mark) for mark in coverage.unknown)
    return "\n".join(lines or ["all proved"])


def _row(coverage: Coverage, group: str) -> str:
    ids, missing = coverage.groups[group], coverage.unproved(group)
    rest = f"without a test: {' '.join(missing)}" if missing else "all proved"
    return f"{group:<3} {len(ids) - len(missing):>3}/{len(ids):<3} {rest}"


def as_json(coverage: Coverage, demanded: Sequence[str]) -> str:
    """The report for a program, always over all groups."""
    return json.dumps(
        {
            "groups": {
                group: {"ids": list(ids), "unproved": list(coverage.unproved(group))}
                for group, ids in coverage.groups.items()
            },
            "proved": {
                id: [f"{mark.file}:{mark.line}" for mark in marks]
                for id, marks in sorted(coverage.proved.items())
            },
            "unknown": [str(mark) for mark in coverage.unknown],
            "demanded": list(demanded),
        },
        indent=2,
    )


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Requirements and faults that no test proves yet.")
    parser.add_argument(
        "--group", default="", help="groups or single ids that must be proved, as in TD,NM,BY-04"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--root", type=Path, default=Path(__file__).parent.parent, help="the folder with docs/ and tests/"
    )
    options = parser.parse_args(argv)
    names = [name.strip() for name in options.group.split(",") if name.strip()]
    try:
        coverage = measure(options.root)
        demanded = coverage.demanded(names)
    except UsageError as error:
        print(f"coverage-req: {error}", file=sys.stderr)
        return 2
    print(as_json(coverage, demanded) if options.json else as_text(coverage, names, demanded))
    return 1 if coverage.unknown or demanded else 0


if __name__ == "__main__":
    sys.exit(main())
