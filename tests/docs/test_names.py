"""What the pages for contributors name exists: files, folders, modules, classes."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/handrail"
PAGES = [
    ROOT / "CONTRIBUTING.md",
    ROOT / "GLOSSARY.md",
    ROOT / "benchmarks/README.md",
    *sorted((ROOT / "docs/adr").glob("*.md")),
]
USER_PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
"""Pages that also name files of a user's own, so that only whole paths are looked up."""
BASES = (ROOT, PACKAGE, PACKAGE / "core", ROOT / "benchmarks")
"""Paths are written from one of these folders."""
TOP_FOLDERS = {path.name for base in BASES for path in base.iterdir() if path.is_dir()} - {"__pycache__"}
GENERATED = ("benchmarks/results", ".venv", ".mcp-suite")
NOT_PYTHON = {"handrail.toml", "handrail.db", "handrail.tenant"}
"""Files of a user's, and a setting of PostgreSQL."""


def inline_code(page: Path) -> list[str]:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.findall(r"`([^`\n]+)`", text)


def is_path(text: str) -> bool:
    """Whether inline code means a file or folder of this repository, and not a route or a pattern."""
    if not re.fullmatch(r"[\w./-]+", text) or text.startswith("/"):
        return False
    return text.endswith(".py") or ("/" in text and text.split("/")[0] in TOP_FOLDERS)


def exists(path: str) -> bool:
    if path.startswith(GENERATED):
        return True
    if "/" not in path and any(any(base.rglob(path)) for base in (PACKAGE, ROOT / "benchmarks")):
        return True
    return any((base / path).exists() or (base / f"{path}.py").exists() for base in BASES)


def can_be_imported(name: str) -> bool:
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            value: object = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[end:]:
            if not hasattr(value, attribute):
                return False
            value = getattr(value, attribute)
        return True
    return False


def defined_name(item: ast.stmt) -> str | None:
    if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return item.name
    return item.target.id if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) else None


def class_members() -> dict[str, set[str]]:
    """The names in the body of each class of the package."""
    members: dict[str, set[str]] = {}
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                members[node.name] = {name for item in node.body if (name := defined_name(item))}
    return members


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_that_a_page_names_exists(page: Path) -> None:
    assert [path for path in inline_code(page) if is_path(path) and not exists(path)] == []


@pytest.mark.parametrize("page", USER_PAGES, ids=lambda page: page.name)
def test_every_file_of_the_repository_that_a_page_for_users_names_exists(page: Path) -> None:
    whole = re.compile(r"(?:src/handrail|tests|docs|docs_src|examples|scripts|benchmarks)/[\w./-]+")

    assert [path for path in inline_code(page) if whole.fullmatch(path) and not exists(path)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_dotted_name_that_a_page_names_can_be_imported(page: Path) -> None:
    dotted = {name for code in inline_code(page) for name in re.findall(r"\bhandrail(?:\.\w+)+", code)}

    assert [name for name in sorted(dotted - NOT_PYTHON) if not can_be_imported(name)] == []


def test_every_class_that_the_glossary_names_exists() -> None:
    members = class_members()
    named = [
        code for code in inline_code(ROOT / "GLOSSARY.md") if re.fullmatch(r"[A-Z][a-z]\w*(\.\w+)?", code)
    ]

    missing = []
    for name in named:
        kind, _, member = name.partition(".")
        if kind not in members or (member and member not in members[kind]):
            missing.append(name)
    assert missing == []


def test_the_glossary_fits_on_two_screens() -> None:
    lines = (ROOT / "GLOSSARY.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("|") and not line.startswith(("|---", "| word |"))]

    assert len(rows) <= 130


def test_no_word_of_the_glossary_is_explained_twice() -> None:
    lines = (ROOT / "GLOSSARY.md").read_text(encoding="utf-8").splitlines()
    cells = [line.split("|")[1] for line in lines if line.startswith("|") and not line.startswith("|---")]
    words = [word.strip() for cell in cells for word in cell.split(",") if word.strip() != "word"]

    assert sorted(words) == sorted(set(words))
