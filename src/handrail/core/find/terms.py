"""Terms: from a text or a name to the stemmed words under which a tool is found."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from handrail.core.define.names import words

_PIECE = re.compile(r"[^\W_]+")
_RUN = re.compile(r"[^\W\d_]+|\d+")
_VOWEL = re.compile(r"[aeiouy]")
_SHORT = re.compile(r"[^aeiouy][aeiouy][^aeiouywx]\Z")
_NO_PLURALS = frozenset("news stats".split())


def terms(text: str) -> list[str]:
    """The terms of a text, in order, as often as they are there."""
    return [term for piece in _PIECE.findall(_without_accents(text)) for term in _terms_of(piece)]


def pieces(text: str) -> list[tuple[str, ...]]:
    """The words of a text, piece by piece: each as a whole, then its parts where it has several."""
    return [_words_of(piece) for piece in _PIECE.findall(_without_accents(text))]


def compact_name(text: str) -> str:
    """A name as one piece, so that all its spellings are one: `data.searchRecords` is datasearchrecords."""
    return _folded("".join(_PIECE.findall(_without_accents(text))))


@lru_cache(maxsize=65_536)
def _terms_of(piece: str) -> tuple[str, ...]:
    return tuple(map(stem, _words_of(piece)))


def _words_of(piece: str) -> tuple[str, ...]:
    parts = [word for run in _RUN.findall(piece) for word in dict.fromkeys((run, *words(run)))]
    return tuple(dict.fromkeys(map(_folded, (piece, *parts))))


def _without_accents(text: str) -> str:
    """The text in compatible letters, without accents and other marks."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    letters = "".join(char for char in decomposed if unicodedata.category(char)[0] != "M")
    return unicodedata.normalize("NFKC", letters)


def _folded(word: str) -> str:
    return word.lower() if word.isascii() else _without_accents(word.casefold())


def stem(word: str) -> str:
    """What is left of an English word without plural, -ing, -ed, -ion and the e at its end.

    Forms of one word end up the same, and a stem is its own stem; that it be a word is not needed.
    """
    if not word.isascii() or not word.isalpha():
        return word
    while (shorter := _undouble(_without_ending(word))) != word:
        word = shorter
    return word


def _without_ending(word: str) -> str:
    for ending, instead in (("ies", "y"), ("ied", "y"), ("sses", "ss")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word.removesuffix(ending) + instead
    if word.endswith(("xes", "ches", "shes")) and len(word) > 4:
        return word[:-2]
    if word.endswith("s") and len(word) > 3 and word[-2] not in "siu" and word not in _NO_PLURALS:
        return word[:-1]
    for ending in ("ing", "ed"):
        root = word.removesuffix(ending)
        if root != word and len(root) > 2 and _VOWEL.search(root) and not word.endswith("eed"):
            return f"{root}e" if _SHORT.match(root) else root
    for ending in ("ion", "or"):
        if word.endswith((f"t{ending}", f"s{ending}")) and len(word) - len(ending) > 4:
            return word.removesuffix(ending)
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def _undouble(word: str) -> str:
    """One consonant for two at the end, as in planned; an s stays double, and an l in a short word."""
    if len(word) < 4 or word[-1] != word[-2] or word[-1] in "aeiouys":
        return word
    return word if word[-1] == "l" and len(word) < 6 else word[:-1]


_STOP_WORDS = """
a about all an and any are as at be by can could do does for from give has have how i if in into is it its
like me my need of on one or our please s so some t that the their them there this to tool use using want
was we what when where which who why will with would you your
"""

STOP_TERMS = frozenset(map(stem, _STOP_WORDS.split()))
"""Terms that say little. They count, but hardly."""


_GROUPS = """
create make new add insert
delete remove erase drop
get fetch read retrieve show view display load open
search find lookup query
list all every
update edit change modify
send deliver
cancel abort stop
start begin launch run execute
download fetch
upload attach
copy duplicate clone
move rename
summary summarize summarise digest
picture image photo
mail email
directory folder
document doc
configuration config settings
repository repo
statistics stats
appointment meeting event
bill invoice
client customer
staff employee
person people
money payment pay
compute calculate
evaluate score rate
"""


def _synonyms_by_term() -> dict[str, frozenset[str]]:
    synonyms: dict[str, frozenset[str]] = {}
    for line in _GROUPS.split("\n"):
        group = frozenset(map(stem, line.split()))
        for term in group:
            synonyms[term] = synonyms.get(term, frozenset()) | (group - {term})
    return synonyms


SYNONYMS = _synonyms_by_term()
"""By term: the terms that may stand in its place."""
