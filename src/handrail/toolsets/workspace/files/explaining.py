"""Why an edit found nothing or too much, told so that the next call is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from handrail.toolsets.workspace.files.nearest import Candidate, nearest
from handrail.toolsets.workspace.files.telling import differences, slips, without_numbers

MOST_PLACES = 10
_MOST_LINES = 12
_MOST_CHARACTERS = 200

SAME = "search and replace are the same text, so nothing would change. Give the new text as replace."


def empty_search(name: str) -> str:
    return (
        f"search is empty, but {name} is not. An empty search fills an empty or new file only: "
        "give the lines to be replaced as search, or use write_file to replace the whole file."
    )


def several(text: str, search: str, rows: Sequence[int], way: str, name: str) -> str:
    """More than one place fits: where they are, and what would tell them apart."""
    shown = rows[:MOST_PLACES]
    lines = text.removesuffix("\n").split("\n")
    count = search.rstrip("\n").count("\n") + 1
    more = f"{len(shown)} or more" if len(rows) > len(shown) else str(len(rows))
    told = [f"the search text fits {more} places in {name}{_but_for(way)}:"]
    for row, places in Counter(shown).items():
        told.append(f"line {row}:" if places == 1 else f"line {row}, {places} times:")
        told += _numbered(lines, max(1, row - 1), min(len(lines), row + min(count, 3)))
    return "\n".join([*told, _apart(rows, way)])


def too_many(name: str) -> str:
    """More places nearly fit than can be compared."""
    return (
        f"the search text is not in {name} exactly, and too many places are like it to compare them all. "
        "Copy the lines exactly as the file has them."
    )


def _apart(rows: Sequence[int], way: str) -> str:
    """What tells places apart."""
    if way == "anchored":
        return "Copy the lines of the one you mean exactly as the file has them."
    more = "Add a line before or after it to search"
    if len(set(rows)) < len(rows):
        more = "Add more of its line to search"
    return f"{more} so that one place fits, or set replace_all to true."


def no_match(text: str, search: str, name: str, earlier: bool) -> str:
    """Nothing fits: what comes nearest and how it differs."""
    lines = text.split("\n")
    count = len(lines) - (lines[-1] == "")
    if not count:
        return f"{name} is empty, so there is nothing to find. Give an empty search to fill it."
    told = [f"the search text is not in {name} ({count} line{'s' * (count != 1)})."]
    if earlier:
        told.append(
            "It was there before this call: an earlier edit of the same call has replaced it. "
            "Edits are applied in order, so search for the text as the earlier ones leave it."
        )
    told += slips(search)
    meant = without_numbers(search)
    candidates = nearest(lines, meant)
    if not candidates:
        told.append("Nothing like it was found either. Read the file and copy the lines as they are.")
        return "\n".join(told)
    told.append("Nearest:")
    wanted = meant.rstrip("\n").split("\n")
    for one in candidates:
        told += _candidate(lines, wanted, one)
    told.append("Copy the lines as the file has them, without line numbers, and call again.")
    return "\n".join(told)


def _candidate(lines: Sequence[str], wanted: Sequence[str], one: Candidate) -> list[str]:
    held = lines[one.row - 1 : one.row - 1 + one.count]
    where = f"line {one.row}" if one.count == 1 else f"lines {one.row} to {one.row + one.count - 1}"
    told = [f"{where} ({one.percent} % alike):"]
    told += _numbered(lines, one.row, one.row + one.count - 1)
    return told + [f"  differs: {reason}" for reason in differences(wanted, held, one.row)]


def _numbered(lines: Sequence[str], first: int, last: int) -> list[str]:
    """Lines with their numbers; of many only the first ones."""
    end = min(last, first + _MOST_LINES - 1)
    told = [f"{row:>6}\t{shortened(lines[row - 1])}" for row in range(first, end + 1)]
    return told + ([f"       … {last - end} more lines"] if last > end else [])


def shortened(line: str) -> str:
    return line if len(line) <= _MOST_CHARACTERS else line[:_MOST_CHARACTERS] + "…"


def _but_for(way: str) -> str:
    return {"whitespace": " but for whitespace", "anchored": " by its first and last lines"}.get(way, "")
