"""Languages: which files can be checked, by their names, and with what."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import PurePosixPath

from handrail.toolsets.workspace.hooks import problems
from handrail.toolsets.workspace.hooks.problems import Parser

_log = logging.getLogger("handrail.workspace")

_OWN: dict[str, Callable[[], Parser]] = {
    ".py": lambda: problems.python,
    ".pyi": lambda: problems.python,
    ".json": lambda: problems.json_text,
    ".webmanifest": lambda: problems.json_text,
    ".geojson": lambda: problems.json_text,
    ".ipynb": lambda: problems.json_text,
    ".toml": lambda: problems.toml,
    ".yaml": lambda: _yaml(),
    ".yml": lambda: _yaml(),
}
GRAMMARS: dict[str, tuple[str, str]] = {
    ".js": ("tree_sitter_javascript", "language"),
    ".mjs": ("tree_sitter_javascript", "language"),
    ".cjs": ("tree_sitter_javascript", "language"),
    ".jsx": ("tree_sitter_javascript", "language"),
    ".ts": ("tree_sitter_typescript", "language_typescript"),
    ".mts": ("tree_sitter_typescript", "language_typescript"),
    ".cts": ("tree_sitter_typescript", "language_typescript"),
    ".tsx": ("tree_sitter_typescript", "language_tsx"),
    ".go": ("tree_sitter_go", "language"),
    ".rs": ("tree_sitter_rust", "language"),
    ".java": ("tree_sitter_java", "language"),
    ".c": ("tree_sitter_c", "language"),
    ".cc": ("tree_sitter_cpp", "language"),
    ".cpp": ("tree_sitter_cpp", "language"),
    ".cxx": ("tree_sitter_cpp", "language"),
    ".hpp": ("tree_sitter_cpp", "language"),
    ".rb": ("tree_sitter_ruby", "language"),
    ".html": ("tree_sitter_html", "language"),
    ".htm": ("tree_sitter_html", "language"),
    ".css": ("tree_sitter_css", "language"),
    ".sh": ("tree_sitter_bash", "language"),
    ".bash": ("tree_sitter_bash", "language"),
}
_WITH_COMMENTS = re.compile(
    r"(tsconfig|jsconfig|devcontainer|\.eslintrc|\.babelrc|\.swcrc)[^/]*\.json$|\.vscode/"
)
"""Files that end in .json and may hold comments all the same."""


def parser_of(path: str) -> Parser | None:
    """What checks a file; None where nothing here does."""
    suffix = PurePosixPath(path).suffix.lower()
    if suffix == ".json" and _WITH_COMMENTS.search(path):
        return None
    return _parser(suffix)


@cache
def _parser(suffix: str) -> Parser | None:
    try:
        if suffix in _OWN:
            return _OWN[suffix]()
        if suffix in GRAMMARS:
            module, function = GRAMMARS[suffix]
            return problems.grammar(getattr(import_module(module), function)())
    except ImportError as error:
        _log.info("files that end in %s are not checked: %s; pip install 'handrail[syntax]'", suffix, error)
    return None


def _yaml() -> Parser:
    import_module("yaml")
    return problems.yaml
