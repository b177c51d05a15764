"""Words: what an argument of a command will be once the shell has read it, as far as that is known before."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

_BARE = re.compile(r"\\(.)|(.)", re.DOTALL)
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


UNKNOWN = Word(None, "…", splits=True)
"""An argument that another program will add."""


def plain(value: str) -> Word:
    return Word(value, value, value)


def read_word(node: Node) -> Word:
    """The word that a node of the tree stands for."""
    text = text_of(node)
    known, begins = _read(node, _expanded(text))
    return Word(begins if known else None, text, begins, not known and _splits(node))


def text_of(node: Node) -> str:
    return (node.text or b"").decode(errors="replace")


def _splits(node: Node) -> bool:
    """Whether it has a value outside of quotes, or one in quotes that is a list: `$@` or `${a[@]}`."""
    if node.type in _VALUES:
        return True
    if node.type == "string":
        return any(one.type in _PARAMETERS and "@" in text_of(one) for one in node.children)
    return any(_splits(one) for one in node.children)


def _expanded(word: str) -> str:
    """The characters that the shell would expand in a word written like this."""
    braces = "{}" if "{" in word and ("," in word or ".." in word) else ""
    brackets = "[" if "]" in word else ""
    return f"*?{braces}{brackets}"


def _read(node: Node, expanded: str) -> tuple[bool, str]:
    """Whether all of it is known, and what is known from its beginning."""
    text = text_of(node)
    if node.type in ("word", "number") and not node.named_child_count:
        return _read_bare(text.replace(_JOINED, ""), expanded)
    if node.type == "raw_string":
        return True, text[1:-1]
    if node.type == "string":
        return _read_string(node, text)
    if node.type in ("concatenation", "command_name"):
        return _read_parts(node, expanded)
    return False, ""


def _read_bare(text: str, expanded: str) -> tuple[bool, str]:
    """Text outside of quotes: known up to the first character that the shell expands."""
    begins = ""
    if text.startswith("~"):
        return False, begins
    for escaped, bare in _BARE.findall(text):
        if bare and bare in expanded:
            return False, begins
        begins += escaped or bare
    return True, begins


def _read_string(node: Node, text: str) -> tuple[bool, str]:
    first = next((child for child in node.named_children if child.type != "string_content"), None)
    end = len(text) - 1 if first is None else _offset(node, first)
    inside = text[1:end].replace(_JOINED, "")
    return first is None, _IN_QUOTES.sub(r"\1", inside)


def _offset(node: Node, child: Node) -> int:
    return len((node.text or b"")[: child.start_byte - node.start_byte].decode(errors="replace"))


def _read_parts(node: Node, expanded: str) -> tuple[bool, str]:
    """Parts one after the other. Braces may stand in parts of their own, so the whole word counts."""
    begins = ""
    for child in node.children:
        known, value = _read(child, expanded)
        begins += value
        if not known:
            return False, begins
    return True, begins
