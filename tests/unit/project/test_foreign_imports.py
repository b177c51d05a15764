"""Core stands on few packages, and on the slow one only when it is needed."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[3] / "src"
ALLOWED = {"annotated_types", "handrail", "jsonschema_rs", "pydantic", "pydantic_core", "typing_extensions"}


def imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The top-level packages that a file imports anywhere, and where."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[0], node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0], node.lineno


def test_core_imports_no_package_beyond_its_few() -> None:
    known = ALLOWED | sys.stdlib_module_names
    foreign = [
        f"{path.relative_to(SOURCE)}:{line} imports {package}"
        for path in sorted((SOURCE / "handrail/core").rglob("*.py"))
        for package, line in imports(ast.parse(path.read_text()))
        if package not in known
    ]

    assert foreign == []


def test_importing_handrail_leaves_the_schema_validator_for_later() -> None:
    program = "import handrail, sys; print(*sorted({'jsonschema', 'jsonschema_rs'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == ""
