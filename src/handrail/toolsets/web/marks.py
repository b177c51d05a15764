"""Marks: stand for characters that a page shows and Markdown takes for markup, until the Markdown is made."""

from __future__ import annotations

from handrail.toolsets.web.decoding import visible

_MARKED = "<[`~\\"
_MARKS = {char: chr(0xE000 + place) for place, char in enumerate(_MARKED)}


def marked(text: str) -> str:
    """Text of a page, with marks in place of what could begin markup."""
    text = unmarkable(text)
    for char, mark in _MARKS.items():
        text = text.replace(char, mark)
    return text


def unmarkable(text: str) -> str:
    """Text of a page in which nothing passes for a mark.

    What nobody sees is dropped here, too: dropped from the Markdown, it would join what stands around it.
    """
    text = visible(text)
    if not text.isascii():
        for mark in _MARKS.values():
            text = text.replace(mark, "")
    return text


def escaped(text: str) -> str:
    """Markdown in which each mark is its character, escaped."""
    for char, mark in _MARKS.items():
        text = text.replace(mark, f"\\{char}")
    return text


def plain(text: str) -> str:
    """Text in which each mark is its character."""
    for char, mark in _MARKS.items():
        text = text.replace(mark, char)
    return text


def in_html(text: str) -> str:
    """HTML in which each mark is its character, and none of them a tag."""
    return plain(text.replace(_MARKS["<"], "&lt;"))
