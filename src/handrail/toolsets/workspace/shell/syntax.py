"""Syntax: a command line as a tree of words, or the reason not to trust the tree."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from handrail import ToolError

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_UNQUOTED = re.compile(r"\\(.)|(.)", re.DOTALL)
_IN_QUOTES = re.compile(r'\\([$`"\\])')
_JOINED = "\\\n"
_PARAMETERS = frozenset({"simple_expansion", "expansion"})
_VALUES = _PARAMETERS | {"command_substitution"}


@dataclass(frozen=True, slots=True)
class Word:
    """One argument. Its `value` is None when it depends on variables, globs or other commands."""

    value: str | None
    text: str
    """As it was written."""
    begins: str = ""
    """What it certainly begins with."""
    splits: bool = False
    """Whether it may turn out to be several words, of which only the first begins like this."""

    @property
    def may_be_option(self) -> bool:
        """Whether it may turn out to begin with a dash, or to bring a word that does."""
        return self.value is None and (self.splits or not self.begins or self.begins.startswith("-"))


UNKNOWN_WORD = Word(None, "…", splits=True)
"""An argument that another program will add."""


def literal_word(value: str) -> Word:
    return Word(value, value, value)


def read_word(node: Node) -> Word:
    """The word that a node of the tree stands for."""
    text = text_of(node)
    is_known, begins = _read_value(node, _expanded(text))
    return Word(begins if is_known else None, text, begins, not is_known and _splits(node))


def text_of(node: Node) -> str:
    return (node.text or b"").decode(errors="replace")


def _splits(node: Node) -> bool:
    """Whether it has a value outside of quotes, or one in quotes that is a list: `$@` or `${a[@]}`."""
    if node.type in _VALUES:
        return True
    if node.type == "string":
        return any(child.type in _PARAMETERS and "@" in text_of(child) for child in node.children)
    return any(_splits(child) for child in node.children)


def _expanded(word: str) -> str:
    """The characters that the shell would expand in a word written like this."""
    braces = "{}" if "{" in word and ("," in word or ".." in word) else ""
    brackets = "[" if "]" in word else ""
    return f"*?{braces}{brackets}"


def _read_value(node: Node, expanded: str) -> tuple[bool, str]:
    """Whether all of it is known, and what is known from its beginning."""
    text = text_of(node)
    if node.type in ("word", "number") and not node.named_child_count:
        return _read_bare(text.replace(_JOINED, ""), expanded)
    if node.type == "raw_string":
        return True, text[1:-1]
    if node.type == "string":
        return _read_string(node)
    if node.type in ("concatenation", "command_name"):
        return _read_parts(node, expanded)
    return False, ""


def _read_bare(text: str, expanded: str) -> tuple[bool, str]:
    """Text outside of quotes: known up to the first character that the shell expands."""
    begins = ""
    if text.startswith("~"):
        return False, begins
    for escaped, bare in _UNQUOTED.findall(text):
        if bare and bare in expanded:
            return False, begins
        begins += escaped or bare
    return True, begins


def _read_string(node: Node) -> tuple[bool, str]:
    first = next((child for child in node.named_children if child.type != "string_content"), None)
    end = -1 if first is None else first.start_byte - node.start_byte
    inside = _between(node.text or b"", 1, end).replace(_JOINED, "")
    return first is None, _IN_QUOTES.sub(r"\1", inside)


def _read_parts(node: Node, expanded: str) -> tuple[bool, str]:
    """Parts one after the other. Braces may stand in parts of their own, so the whole word counts."""
    begins = ""
    for child in node.children:
        is_known, value = _read_value(child, expanded)
        begins += value
        if not is_known:
            return False, begins
    return True, begins


_ONE_LINE = frozenset(
    {"command", "declaration_command", "unset_command", "file_redirect", "herestring_redirect"}
)
"""What ends with its line, unless a backslash joins the next one to it."""
_BLANK_RUN = re.compile(rb"(?:[ \t\n]|\\\n)*")

_MANY_LINES = frozenset(
    {"string", "command_substitution", "process_substitution", "expansion", "heredoc_redirect"}
)
_READ_AS_PATTERN = frozenset({"command", "test_command", "case_item", "expansion"})


def spans_lines(source: bytes, node: Node) -> bool:
    """Whether its parts stand on several lines, though the shell ends it with the first."""
    if node.type in _ONE_LINE:
        return _has_line_break(source, node)
    return is_plain_test(node) and any(
        _has_line_break(source, part)
        for part in descendants(node, _MANY_LINES)
        if part.type not in _MANY_LINES
    )


def is_plain_test(node: Node) -> bool:
    """Whether it is `[`, which is a command like others, and not `[[` or `((`."""
    return node.type == "test_command" and node.children[0].type == "["


def is_misread_pattern(pattern: Node) -> bool:
    """Whether the shell sees plain words where the tree sees a pattern."""
    around = pattern.parent
    while around is not None and around.type not in _READ_AS_PATTERN:
        around = around.parent
    return around is None or around.type == "command" or is_plain_test(around)


def _has_line_break(source: bytes, node: Node) -> bool:
    for earlier, later in pairwise(node.children):
        blanks = _BLANK_RUN.match(source, earlier.end_byte, later.end_byte)
        if blanks is not None and b"\n" in blanks[0].replace(b"\\\n", b""):
            return True
    return False


MAX_CHARACTERS = 10_000
_BLANK = re.compile(r"(?:[ \t\n]|\\\n)*\Z")

_JOINS = re.compile(r"(?<!&&)(?<![| \t\n])\\\n|\\[ \t]\\\n")
"""A line that goes on in the next one without a blank between them."""
_ESCAPED = re.compile(r"\\.", re.DOTALL)

_SUBSTITUTIONS = re.compile(r"`|\$[({\[]")
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
_BARE_WORDS = frozenset({"word", "number", "variable_name", "special_variable_name", "test_operator"})


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


def text_problem(command: str) -> str | None:
    """What is wrong with the text itself, before anything is parsed."""
    if len(command) > MAX_CHARACTERS:
        return f"it is longer than {MAX_CHARACTERS:,} characters"
    for char in command:
        if char not in " \t\n" and unicodedata.category(char)[0] in "CZ":
            return f"it has the control character or odd space {unicodedata.name(char, hex(ord(char)))}"
    if _JOINS.search(command) or ("\\\n" in command and "<<" in command):
        return "a word may go on in the next line; write a blank before each \\ that ends a line"
    return None


def parse_command(command: str) -> Node:
    return _parser().parse(command.encode()).root_node


def descendants(node: Node, closed: Collection[str] = ()) -> Iterator[Node]:
    """The node and all below it, in order, but for what is inside of nodes of a closed type."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        if current.type not in closed:
            waiting.extend(reversed(current.children))


def find_misread(command: str, nodes: list[Node]) -> str | None:
    """A place where the shell may read something else than the tree says; None when there is none."""
    source = command.encode()
    has_lines = b"\n" in source
    end = 0
    skipping = 0
    for node in nodes:
        if node.type == "ERROR" or node.is_missing or (node.type in _TIGHT and _has_gap(node)):
            return text_of(node) or command
        if (has_lines and spans_lines(source, node)) or (node.type in _REDIRECTS and _fills(source, node)):
            return text_of(node)
        if node.start_byte < skipping:
            continue
        if node.type == "heredoc_redirect":
            if _is_misread_heredoc(node):
                return text_of(node)
            continue
        if node.type == "heredoc_body":
            skipping = end = max(end, node.end_byte)
            continue
        if node.child_count:
            continue
        if not _BLANK.match(_between(source, end, node.start_byte)) or _is_misread_leaf(source, node):
            return text_of(node) or command
        end = max(end, node.end_byte)
    return None if _BLANK.match(_between(source, end, len(source))) else command


def _has_gap(node: Node) -> bool:
    """Whether there is space inside what the shell only takes together when there is none."""
    return any(earlier.end_byte != later.start_byte for earlier, later in pairwise(node.children))


def _fills(source: bytes, redirect: Node) -> bool:
    """Whether the shell takes the word before it for the name of a variable."""
    before = source[: redirect.start_byte]
    return before.endswith(b"}") and _FILLED.search(before) is not None


def _between(source: bytes, start: int, end: int) -> str:
    return source[start:end].decode(errors="replace")


def _is_misread_leaf(source: bytes, leaf: Node) -> bool:
    text = text_of(leaf)
    if leaf.type in _BARE_WORDS or (leaf.type in _PATTERNS and is_misread_pattern(leaf)):
        return _META.search(_ESCAPED.sub("", text)) is not None or text.endswith("\\")
    if leaf.type in _TEXTS or leaf.type in _PATTERNS:
        return _SUBSTITUTIONS.search(_ESCAPED.sub("", text)) is not None
    if leaf.type == "raw_string":
        return text.count("'") != 2
    if leaf.type == "ansi_c_string":
        return _ANSI.fullmatch(text) is None
    if leaf.type == "comment":
        before = _between(source, 0, leaf.start_byte)
        return bool(before) and (before[-1] not in _BEFORE_COMMENT or before[-2:-1] == "\\")
    return False


def _is_misread_heredoc(node: Node) -> bool:
    """Whether the end or the substitutions of a here-document may be elsewhere than the tree says."""
    start = next((text_of(child) for child in node.children if child.type == "heredoc_start"), "")
    delimiter = _DELIMITER.fullmatch(start)
    if delimiter is None:
        return True
    for body in (child for child in node.children if child.type == "heredoc_body"):
        if any(line.strip() == delimiter[2] for line in text_of(body).splitlines()):
            return True
        if not delimiter[1] and _SUBSTITUTIONS.search(_ESCAPED.sub("", _outside(body))):
            return True
    return False


def _outside(body: Node) -> str:
    """The text of a here-document without the substitutions that the tree found in it."""
    text, outside, at = body.text or b"", b"", body.start_byte
    for child in body.children:
        if child.type != "heredoc_content":
            outside += text[at - body.start_byte : child.start_byte - body.start_byte] + b" "
            at = child.end_byte
    return (outside + text[at - body.start_byte :]).decode(errors="replace")
