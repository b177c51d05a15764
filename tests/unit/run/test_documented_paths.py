"""The ways of a call and of an approval, as docs/adr/0016 lists them: short, and each step is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ADR = ROOT / "docs/adr/0016-plain-words-and-short-ways.md"
STEP = re.compile(r"^\d+\. `([\w/]+)`: `([\w.]+)`", re.MULTILINE)


def steps(path: str) -> list[tuple[str, str]]:
    section = ADR.read_text().partition(f"<!-- path: {path} -->")[2].partition("\n## ")[0]
    return STEP.findall(section)


def defined(module: str) -> set[str]:
    """The functions of a module, methods with the name of their class."""
    tree = ast.parse((ROOT / "src/handrail" / f"{module}.py").read_text())
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{part.name}" for part in node.body if hasattr(part, "name")}
            names |= {
                f"{node.name}.{part.target.id}"
                for part in node.body
                if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
            }
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
    return names


@pytest.mark.parametrize("path", ["call", "approval"])
def test_a_path_is_short_and_every_step_of_it_is_a_named_function(path: str) -> None:
    modules = {module for module, _ in steps(path)}
    assert 5 < len(modules) <= 12
    for module, name in steps(path):
        assert name in defined(module), f"{module} has no {name}"
