"""Parsing: a command line as a tree, or the reason why nobody should trust what the tree would say."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from handrail.ext import ToolError
from handrail.toolsets.workspace.shell.lines import goes_on, is_stray
from handrail.toolsets.workspace.shell.words import text_of

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

LONGEST = 10_000
_BLANK = re.compile(r"(?:[ \t\n]|\\\n)*\Z")
_JOINS = re.compile(r"(?<!&&)(?<![| \t\n])\\\n|\\[ \t]\\\n")
"""A line that goes on in the next one without a blank between them."""
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_STARTS = re.compile(r"`|\$[({\[]")
"""What starts something that the shell runs or works out."""
_META = re.compile(r"[;&|<>()\s`]|\$[({\[]")
_DELIMITER = re.compile(r"""(['"]?)([A-Za-z_][A-Za-z0-9_]*)\1""")
_ANSI = re.compile(r"\$'(?:[^'\\]|\\.)*'", re.DOTALL)
_BEFORE_COMMENT = frozenset(" \t\n;&|()")
_TEXTS = frozenset({"string_content", "heredoc_content"})
_REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
_FILLED = re.compile(rb"(?<!\$)\{\w+(?:\[[^\]]*\])?\}\Z")
"""A variable that gets the number of what the redirection behind it opens."""
_PATTERNS = frozenset({"regex", "extglob_pattern"})
_TIGHT = frozenset({"simple_expansion", "concatenation", "variable_assignment", "subscript"})
_BARE = frozenset({"word", "number", "variable_name", "special_variable_name", "test_operator"})


@cache
def _parser() -> Parser:
    try:
        import tree_sitter_bash
        from tree_sitter import Language, Parser
    except ImportError:
        raise ToolError(
            "The shell needs a parser of command lines: pip install 'handrail[workspace]'",
            code="NOT_INSTALLED",
        ) from None
    return Parser(Language(tree_sitter_bash.language()))


def parser_problem() -> str | None:
    """Why no command line can be read on this machine; None when it can."""
    try:
        _parser()
    except ToolError as error:
        return str(error)
    return None


def odd_text(command: str) -> str | None:
    """What is wrong with the text itself, before anything is parsed."""
    if len(command) > LONGEST:
        return f"it is longer than {LONGEST:,} characters"
    for one in command:
        if one not in " \t\n" and unicodedata.category(one)[0] in "CZ":
            return f"it has the control character or odd space {unicodedata.name(one, hex(ord(one)))}"
    if _JOINS.search(command) or ("\\\n" in command and "<<" in command):
        return "a word may go on in the next line; write a blank before each \\ that ends a line"
    return None


def parse(command: str) -> Node:
    return _parser().parse(command.encode()).root_node


def every(node: Node) -> Iterator[Node]:
    """The node and all below it, in order."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(reversed(one.children))


def misread(command: str, nodes: list[Node]) -> str | None:
    """A place where the shell may read something else than the tree says; None when there is none."""
    source = command.encode()
    has_lines = b"\n" in source
    end = 0
    skipping = 0
    for node in nodes:
        if node.type == "ERROR" or node.is_missing or (node.type in _TIGHT and _has_gap(node)):
            return text_of(node) or command
        if (has_lines and goes_on(source, node)) or (node.type in _REDIRECTS and _fills(source, node)):
            return text_of(node)
        if node.start_byte < skipping:
            continue
        if node.type == "heredoc_redirect":
            if (odd := _odd_heredoc(node)) is not None:
                return odd
            continue
        if node.type == "heredoc_body":
            skipping = end = max(end, node.end_byte)
            continue
        if node.child_count:
            continue
        if not _BLANK.match(_between(source, end, node.start_byte)) or _is_odd(source, node):
            return text_of(node) or command
        end = max(end, node.end_byte)
    return None if _BLANK.match(_between(source, end, len(source))) else command


def _has_gap(node: Node) -> bool:
    """Whether there is space inside what the shell only takes together when there is none."""
    ends = [child.end_byte for child in node.children]
    return any(child.start_byte != end for end, child in zip(ends, node.children[1:], strict=False))


def _fills(source: bytes, redirect: Node) -> bool:
    """Whether the shell takes the word before it for the name of a variable."""
    before = source[: redirect.start_byte]
    return before.endswith(b"}") and _FILLED.search(before) is not None


def _between(source: bytes, start: int, end: int) -> str:
    return source[start:end].decode(errors="replace")


def _is_odd(source: bytes, leaf: Node) -> bool:
    text = text_of(leaf)
    if leaf.type in _BARE or (leaf.type in _PATTERNS and is_stray(leaf)):
        return _META.search(_ESCAPED.sub("", text)) is not None or text.endswith("\\")
    if leaf.type in _TEXTS or leaf.type in _PATTERNS:
        return _STARTS.search(_ESCAPED.sub("", text)) is not None
    if leaf.type == "raw_string":
        return text.count("'") != 2
    if leaf.type == "ansi_c_string":
        return _ANSI.fullmatch(text) is None
    if leaf.type == "comment":
        before = _between(source, 0, leaf.start_byte)
        return bool(before) and (before[-1] not in _BEFORE_COMMENT or before[-2:-1] == "\\")
    return False


def _odd_heredoc(node: Node) -> str | None:
    """A here-document whose end or whose substitutions may be elsewhere than the tree says."""
    start = next((text_of(one) for one in node.children if one.type == "heredoc_start"), "")
    delimiter = _DELIMITER.fullmatch(start)
    if delimiter is None:
        return text_of(node)
    for body in node.children:
        if body.type != "heredoc_body":
            continue
        text = text_of(body)
        if any(line.strip() == delimiter[2] for line in text.splitlines()):
            return text_of(node)
        if not delimiter[1] and _STARTS.search(_ESCAPED.sub("", _outside(body))):
            return text_of(node)
    return None


def _outside(body: Node) -> str:
    """The text of a here-document without the substitutions that the tree found in it."""
    text, kept, at = body.text or b"", b"", body.start_byte
    for child in body.children:
        if child.type != "heredoc_content":
            kept += text[at - body.start_byte : child.start_byte - body.start_byte] + b" "
            at = child.end_byte
    return (kept + text[at - body.start_byte :]).decode(errors="replace")
