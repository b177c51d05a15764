"""Syntax parsers: which files can be parsed, and with what; large ones in a process of their own."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import NamedTuple

from handrail.toolsets.workspace import syntax_errors
from handrail.toolsets.workspace.syntax_errors import Parser, ParseResult, SyntaxProblem

_log = logging.getLogger("handrail.workspace")
_AT_ONCE = 16 * 1024
_FAST_AT_ONCE = 64 * 1024


class LanguageParser(NamedTuple):
    """How files of a language are checked."""

    parse: Parser
    words: tuple[str, ...]
    """What tells a process of its own which parser to take."""
    at_once: int = _AT_ONCE
    """Bytes of a file that is parsed at once, while everything else waits."""


_GRAMMAR_SUFFIXES = {
    ("tree_sitter_javascript", "language"): ".js .mjs .cjs .jsx",
    ("tree_sitter_typescript", "language_typescript"): ".ts .mts .cts",
    ("tree_sitter_typescript", "language_tsx"): ".tsx",
    ("tree_sitter_go", "language"): ".go",
    ("tree_sitter_rust", "language"): ".rs",
    ("tree_sitter_java", "language"): ".java",
    ("tree_sitter_c", "language"): ".c",
    ("tree_sitter_cpp", "language"): ".cc .cpp .cxx .hpp",
    ("tree_sitter_ruby", "language"): ".rb",
    ("tree_sitter_html", "language"): ".html .htm",
    ("tree_sitter_css", "language"): ".css",
    ("tree_sitter_bash", "language"): ".sh .bash",
}
GRAMMARS = {end: grammar for grammar, ends in _GRAMMAR_SUFFIXES.items() for end in ends.split()}
"""The module and the function that give the language of files whose names end so."""

_WITH_COMMENTS = re.compile(
    r"(tsconfig|jsconfig|devcontainer|\.eslintrc|\.babelrc|\.swcrc)[^/]*\.json$|\.vscode/"
)
"""Files that end in .json and may hold comments all the same."""


def parser_for(path: str) -> LanguageParser | None:
    """What checks a file; None where nothing here does."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix == ".json" and _WITH_COMMENTS.search(path):
        return None
    return _load_parser(suffix)


@cache
def _load_parser(suffix: str) -> LanguageParser | None:
    try:
        if suffix in (".py", ".pyi"):
            return LanguageParser(syntax_errors.python, ("python",), _FAST_AT_ONCE)
        if suffix in (".json", ".webmanifest", ".geojson", ".ipynb"):
            return LanguageParser(syntax_errors.json_text, ("json_text",), _FAST_AT_ONCE)
        if suffix == ".toml":
            return LanguageParser(syntax_errors.toml, ("toml",))
        if suffix in (".yaml", ".yml"):
            import_module("yaml")
            return LanguageParser(syntax_errors.yaml, ("yaml",))
        if suffix in GRAMMARS:
            module, function = GRAMMARS[suffix]
            parse = syntax_errors.grammar_parser(getattr(import_module(module), function)())
            return LanguageParser(parse, ("grammar", module, function))
    except ImportError as error:
        _log.info("files that end in %s are not checked: %s; pip install 'handrail[syntax]'", suffix, error)
    return None


_TIMEOUT = 10.0


async def parse(check: LanguageParser, data: bytes, seconds: float = _TIMEOUT) -> ParseResult:
    """What parsing yields; nothing where it takes too long, or there is no room for a process."""
    if len(data) <= check.at_once:
        return check.parse(data)
    try:
        async with asyncio.timeout(seconds):
            problem = json.loads(await _parse_in_process(check, data))
    except (TimeoutError, OSError, ValueError):
        return ParseResult()
    return ParseResult(SyntaxProblem(*problem)) if problem else ParseResult()


async def _parse_in_process(check: LanguageParser, data: bytes) -> bytes:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-W", "ignore", syntax_errors.__file__, *check.words),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={},
    )
    try:
        return (await process.communicate(data))[0]
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
