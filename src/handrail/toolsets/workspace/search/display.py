"""Display: names and lines as a model and a person read them."""

from __future__ import annotations

from handrail.toolsets.workspace.search.query import MatchCounts

_WIDEST = 300
_BEFORE = 80
"""Characters of a long line that are shown, and how many of them stand before the match."""
_UNITS = ("B", "kB", "MB", "GB", "TB")


def path_text(path: str) -> str:
    """A path on one line, as it can be given again; what is no text in it is written out."""
    if path.startswith("-"):
        path = f"./{path}"
    written = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in written)


def shorten(text: str, at: int = 0) -> str:
    """A line of bounded width, around the place of the match."""
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").replace("\0", "\ufffd")
    if len(text) <= _WIDEST:
        return text
    begin = min(max(0, at - _BEFORE), len(text) - _WIDEST) if at > _WIDEST - _BEFORE else 0
    end = begin + _WIDEST
    return ("…" if begin else "") + text[begin:end] + ("…" if end < len(text) else "")


def size_text(count: int) -> str:
    """A number of bytes in a short form."""
    value = float(count)
    for unit in _UNITS:
        if value < 1000 or unit == _UNITS[-1]:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError


def plural(count: int, thing: str) -> str:
    """A number of things: 1 file, 2,000 files."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def left_out_notes(match_counts: MatchCounts, largest: int) -> list[str]:
    """What a search did not show, in sentences."""
    notes = []
    if match_counts.binary:
        notes.append(f"{plural(match_counts.binary, 'binary file')} with matches left out.")
    if match_counts.large:
        notes.append(f"{plural(match_counts.large, 'file')} over {size_text(largest)} not searched.")
    if match_counts.linked:
        have = "has" if match_counts.linked == 1 else "have"
        notes.append(f"{plural(match_counts.linked, 'file')} left out that {have} several hard links.")
    return notes
