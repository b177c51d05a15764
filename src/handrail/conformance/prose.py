"""prose: how long a text is, and how many sentences it has."""

from __future__ import annotations

import re

_WIDE = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_WIDE}]|[^\W{_WIDE}]{{1,10}}|[^\w\s]")
_END = re.compile(r"(?P<word>\w*)[.!?]+[\"')\]]*\s+(?=(?P<next>\S))|。(?=.)")
_SHORT = frozenset("e g i etc vs cf no approx incl resp dr mr ms st".split())


def tokens(text: str) -> int:
    """About as many tokens as a model reads.

    A word is one for each ten letters begun; a mark of punctuation is one, and so is a Chinese, Japanese or
    Korean character. It needs no model's own tables, and one text has one length.
    """
    return len(_TOKEN.findall(text))


def sentences(text: str) -> int:
    """How many sentences a text has. What begins with a small letter goes on with the one before."""
    ends = (found for found in _END.finditer(text.strip()) if _is_end(found))
    return 1 + sum(1 for _ in ends) if text.strip() else 0


def _is_end(found: re.Match[str]) -> bool:
    if found["next"] is None:
        return True
    return not found["next"].islower() and found["word"].lower() not in _SHORT
