"""Counts how the package reads: `python scripts/structure.py [--list] [--root CHECKOUT]`."""

from __future__ import annotations

import argparse
import ast
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
PACKAGE = "handrail"
SMALL = 80
"""Lines under which a module with one importer could stand in that importer."""
NOT_GERUNDS = frozenset({"string", "ring", "spring", "thing", "testing", "setting", "engine"})


@dataclass(slots=True)
class Module:
    """One file of the package, parsed."""

    name: str
    path: Path
    lines: int
    tree: ast.Module
    is_package: bool
    imports: set[str] = field(default_factory=set)
    """The modules it imports, also for types only and inside functions."""


def load(root: Path) -> dict[str, Module]:
    """Every module below a root, by its dotted name."""
    modules = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join((PACKAGE, *(parts[:-1] if is_package else parts)))
        text = path.read_text()
        modules[name] = Module(name, path, text.count("\n"), ast.parse(text), is_package)
    for module in modules.values():
        module.imports = set(_imports(module, modules))
    return modules


def _imports(module: Module, modules: dict[str, Module]) -> Iterator[str]:
    for node in ast.walk(module.tree):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                names.append(inner if inner in modules else node.module)
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from (name for name in names if name in modules and name != module.name)


def is_gerund(module: Module) -> bool:
    last = module.name.rpartition(".")[2]
    return any(word.endswith("ing") and word not in NOT_GERUNDS for word in last.split("_")[-1:])


def public_classes(modules: Iterable[Module]) -> dict[str, list[str]]:
    """The modules that define each public class name."""
    found = defaultdict(list)
    for module in modules:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(module.name)
    return dict(found)


def importers(modules: dict[str, Module]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {name: set() for name in modules}
    for module in modules.values():
        for imported in module.imports:
            found[imported].add(module.name)
    return found


def knots(modules: dict[str, Module]) -> list[set[str]]:
    """Groups of modules that import each other in a circle, types and lazy imports included (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: list[set[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in modules[name].imports:
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            group: set[str] = set()
            while name not in group:
                group.add(stack.pop())
            if len(group) > 1:
                groups.append(group)

    for name in modules:
        if name not in index:
            visit(name)
    return sorted(groups, key=len, reverse=True)


def between_doors(modules: dict[str, Module]) -> list[tuple[str, str]]:
    """Imports of one door by another."""

    def door(name: str) -> str | None:
        parts = name.split(".")
        return parts[2] if parts[1:2] == ["doors"] and len(parts) > 2 else None

    doors = {name.split(".")[2] for name, m in modules.items() if m.is_package and name.count(".") == 2}
    return [
        (module.name, other)
        for module in modules.values()
        for other in sorted(module.imports)
        if door(module.name) in doors and door(other) in doors and door(module.name) != door(other)
    ]


def own_modules(modules: dict[str, Module], package: str) -> list[str]:
    """The modules that stand in a package itself, beside its subpackages."""
    return [n for n, m in modules.items() if n.rpartition(".")[0] == package and not m.is_package]


def functions(modules: Iterable[Module]) -> list[int]:
    """How long each function is."""
    return [
        (node.end_lineno or node.lineno) - node.lineno + 1
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]


def none_asserts(modules: Iterable[Module]) -> int:
    """Asserts that something is not None."""
    return sum(
        isinstance(node, ast.Assert) and "is not None" in ast.unparse(node.test)
        for module in modules
        for node in ast.walk(module.tree)
    )


def glossary_rows(file: Path) -> int:
    lines = file.read_text().splitlines()
    rows = [line for line in lines if line.startswith("|") and not line.startswith("|---")]
    return len([row for row in rows if not row.startswith("| word |")])


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="also list what was counted")
    parser.add_argument("--root", type=Path, default=HERE, help="another checkout to count")
    given = parser.parse_args(argv)
    sys.setrecursionlimit(10_000)
    modules = load(given.root / "src" / PACKAGE)
    classes = {n: where for n, where in public_classes(modules.values()).items() if len(where) > 1}
    alone = {n: next(iter(by)) for n, by in importers(modules).items() if len(by) == 1}
    small = [n for n in alone if modules[n].lines < SMALL and not modules[n].is_package]
    tied = knots(modules)
    doors = between_doors(modules)
    gerunds = [m.name for m in modules.values() if is_gerund(m)]
    run = own_modules(modules, f"{PACKAGE}.core.run")
    long = [m.name for m in modules.values() if m.lines > 500]
    rows: list[tuple[str, object, Iterable[object]]] = [
        ("modules", len(modules), ()),
        ("lines", sum(m.lines for m in modules.values()), ()),
        ("modules of more than 500 lines", len(long), long),
        ("gerund modules", len(gerunds), gerunds),
        ("public class names defined more than once", len(classes), classes.items()),
        ("glossary rows", glossary_rows(given.root / "GLOSSARY.md"), ()),
        ("modules with exactly one importer", len(alone), alone.items()),
        (f"… of them under {SMALL} lines", len(small), small),
        ("modules of core/run itself", len(run), run),
        ("imports of one door by another", len(doors), doors),
        ("modules in import circles, types included", sum(map(len, tied)), tied),
        ("asserts that something is not None", none_asserts(modules.values()), ()),
        ("median lines of a function", statistics.median(functions(modules.values())), ()),
    ]
    for what, count, _ in rows:
        print(f"{what:<46} {count:>8}")
    if given.list:
        for what, _, items in rows:
            for item in items:
                print(f"{what}: {item}")


if __name__ == "__main__":
    main(sys.argv[1:])
