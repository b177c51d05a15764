"""Lines: where the tree reads on, though for the shell the command has ended."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

_ONE_LINE = frozenset(
    {"command", "declaration_command", "unset_command", "file_redirect", "herestring_redirect"}
)
"""What ends with its line, unless a backslash joins the next one to it."""
_BLANKS = re.compile(rb"(?:[ \t\n]|\\\n)*")
_MANY_LINES = frozenset(
    {"string", "command_substitution", "process_substitution", "expansion", "heredoc_redirect"}
)
_READ_AS_PATTERN = frozenset({"command", "test_command", "case_item", "expansion"})


def goes_on(source: bytes, node: Node) -> bool:
    """Whether its parts stand on several lines, though the shell ends it with the first."""
    if node.type in _ONE_LINE:
        return _is_broken(source, node)
    return is_plain_test(node) and any(_is_broken(source, one) for one in _expressions(node))


def is_plain_test(node: Node) -> bool:
    """Whether it is `[`, which is a command like others, and not `[[` or `((`."""
    return node.type == "test_command" and node.children[0].type == "["


def is_stray(pattern: Node) -> bool:
    """Whether the shell sees plain words where the tree sees a pattern."""
    around = pattern.parent
    while around is not None and around.type not in _READ_AS_PATTERN:
        around = around.parent
    return around is None or around.type == "command" or is_plain_test(around)


def _is_broken(source: bytes, node: Node) -> bool:
    for one, other in pairwise(node.children):
        blanks = _BLANKS.match(source, one.end_byte, other.end_byte)
        if blanks is not None and b"\n" in blanks[0].replace(b"\\\n", b""):
            return True
    return False


def _expressions(test: Node) -> list[Node]:
    """The test and all below it that has to stand on one line with it."""
    found = [test]
    for node in found:
        found += [one for one in node.children if one.child_count and one.type not in _MANY_LINES]
    return found
