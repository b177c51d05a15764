"""Syntax errors: where a text is not what its language allows. One function for each way to find out.

It is also run by its path, as a program of its own: parsers let nobody else in their process work.
"""

from __future__ import annotations

import codecs
import json
import re
import sys
import tomllib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import decode_source
from typing import Any

_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_SHOWN = 120
_MAX_NODES = 20_000
_MAX_DEPTH = 500
"""Levels of YAML that are looked at: each makes the next one slower."""


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """One place, counted from 1."""

    line: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class ParseResult:
    """A tree where there is one, and the first problem."""

    problem: SyntaxProblem | None = None
    tree: Any = None


Parser = Callable[[bytes], ParseResult]


def python(data: bytes) -> ParseResult:
    try:
        text = decode_source(data)  # columns of bytes are no columns of characters
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<file>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return ParseResult(SyntaxProblem(error.lineno or 1, max(error.offset or 1, 1), error.msg))
    except UnicodeDecodeError as error:
        return ParseResult(_not_text(data, error))
    except (ValueError, RecursionError, MemoryError) as error:
        return ParseResult(SyntaxProblem(1, 1, str(error))) if "null bytes" in str(error) else ParseResult()
    return ParseResult()


def json_text(data: bytes) -> ParseResult:
    try:
        json.loads(data)
    except json.JSONDecodeError as error:
        return ParseResult(SyntaxProblem(error.lineno, error.colno, error.msg))
    except UnicodeDecodeError as error:
        return ParseResult(_not_text(data, error))
    except (ValueError, RecursionError):
        pass  # a number or a nesting that is allowed, and too much for this parser
    return ParseResult()


def toml(data: bytes) -> ParseResult:
    try:
        tomllib.loads(data.removeprefix(codecs.BOM_UTF8).decode())
    except tomllib.TOMLDecodeError as error:
        text, at = str(error), _AT.search(str(error))
        line, column = (at[1], at[2]) if at is not None and at[1] else (None, None)
        last = data.count(b"\n") + 1
        return ParseResult(SyntaxProblem(int(line or last), int(column or 1), _AT.sub("", text)))
    except UnicodeDecodeError as error:
        return ParseResult(_not_text(data, error))
    except (ValueError, RecursionError):
        pass
    return ParseResult()


def _not_text(data: bytes, error: UnicodeDecodeError) -> SyntaxProblem:
    return SyntaxProblem(data.count(b"\n", 0, error.start) + 1, 1, "these bytes are not text")


def yaml(data: bytes) -> ParseResult:
    import yaml as pyyaml  # an optional dependency, loaded on first use

    loader = getattr(pyyaml, "CSafeLoader", pyyaml.SafeLoader)
    try:
        depth = 0
        for event in pyyaml.parse(data, Loader=loader):
            depth += isinstance(event, pyyaml.CollectionStartEvent)
            depth -= isinstance(event, pyyaml.CollectionEndEvent)
            if depth > _MAX_DEPTH:
                break
    except pyyaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
        return ParseResult(SyntaxProblem(line, column, error.problem or "it cannot be read"))
    except (pyyaml.YAMLError, UnicodeDecodeError):
        return ParseResult(SyntaxProblem(1, 1, "it has a character that YAML does not allow"))
    return ParseResult()


def grammar_parser(language: Any) -> Parser:
    """The parser of a tree-sitter language."""
    from tree_sitter import Language  # loaded on first use
    from tree_sitter import Parser as TreeParser

    grammar = Language(language)

    def parse(source: bytes) -> ParseResult:
        data = as_utf8(source)
        tree = TreeParser(grammar).parse(data)
        if tree is None or not tree.root_node.has_error:
            return ParseResult(None, tree)
        return ParseResult(_first_error(tree.root_node, data), tree)

    return parse


def _first_error(root: Any, data: bytes) -> SyntaxProblem:
    """The first error that holds no other."""
    best, todo, seen = root, [root], 0
    while todo and seen < _MAX_NODES:
        node = todo.pop()
        seen += 1
        inner = [child for child in node.children if child.has_error or child.is_missing]
        if inner:
            todo.extend(inner)
        elif (node.is_error or node.is_missing) and (best is root or node.start_byte < best.start_byte):
            best = node
    row, column = best.start_point
    before = data[best.start_byte - column : best.start_byte]
    if best.is_missing:
        text = f"{best.type!r} is missing"
    else:
        shown = data[best.start_byte : best.end_byte].split(b"\n")[0].decode("utf-8", "replace").strip()
        text = f"unexpected {shown[:40]!r}"
    return SyntaxProblem(row + 1, len(before.decode("utf-8", "replace")) + 1, text)


def as_utf8(data: bytes) -> bytes:
    """A text in UTF-8 without a byte order mark, as parsers want it."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").encode()
    return data.removeprefix(codecs.BOM_UTF8)


def line_of(data: bytes, problem: SyntaxProblem) -> str:
    """The line of a problem, as it is shown."""
    lines = as_utf8(data).split(b"\n", problem.line)
    line = lines[problem.line - 1] if problem.line <= len(lines) else b""
    return line.decode("utf-8", "replace").strip()[:_SHOWN]


def main(way: str, *language: str) -> None:
    """Say what is wrong with what comes in, as [line, column, text], or null."""
    ways: dict[str, Parser] = {"python": python, "json_text": json_text, "toml": toml, "yaml": yaml}
    parser = ways.get(way) or grammar_parser(getattr(import_module(language[0]), language[1])())
    problem = parser(sys.stdin.buffer.read()).problem
    sys.stdout.write(json.dumps(None if problem is None else [problem.line, problem.column, problem.text]))


if __name__ == "__main__":
    main(*sys.argv[1:])
