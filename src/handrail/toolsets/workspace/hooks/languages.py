"""Languages: which files can be checked, by their names, and with what."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import NamedTuple

from handrail.toolsets.workspace.hooks import problems
from handrail.toolsets.workspace.hooks.problems import Parser

_log = logging.getLogger("handrail.workspace")
_AT_ONCE = 16 * 1024
_FAST_AT_ONCE = 64 * 1024


class Check(NamedTuple):
    """How files of a language are checked."""

    parse: Parser
    words: tuple[str, ...]
    """What tells a process of its own which parser to take."""
    at_once: int = _AT_ONCE
    """Bytes of a file that is parsed at once, while everything else waits."""


_OWN: dict[str, Callable[[], Check]] = {
    ".py": lambda: _python(),
    ".pyi": lambda: _python(),
    ".json": lambda: _json(),
    ".webmanifest": lambda: _json(),
    ".geojson": lambda: _json(),
    ".ipynb": lambda: _json(),
    ".toml": lambda: Check(problems.toml, ("toml",)),
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


def check_of(path: str) -> Check | None:
    """What checks a file; None where nothing here does."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix == ".json" and _WITH_COMMENTS.search(path):
        return None
    return _check(suffix)


@cache
def _check(suffix: str) -> Check | None:
    try:
        if suffix in _OWN:
            return _OWN[suffix]()
        if suffix in GRAMMARS:
            module, function = GRAMMARS[suffix]
            parse = problems.grammar(getattr(import_module(module), function)())
            return Check(parse, ("grammar", module, function))
    except ImportError as error:
        _log.info("files that end in %s are not checked: %s; pip install 'handrail[syntax]'", suffix, error)
    return None


def _python() -> Check:
    return Check(problems.python, ("python",), _FAST_AT_ONCE)


def _json() -> Check:
    return Check(problems.json_text, ("json_text",), _FAST_AT_ONCE)


def _yaml() -> Check:
    import_module("yaml")
    return Check(problems.yaml, ("yaml",))
