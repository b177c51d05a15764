"""Indentation: how the lines of a search text were indented in the file, so that the new lines are too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

BLANKS = " \t"


@dataclass(frozen=True, slots=True)
class Shift:
    """Takes something from the front of an indentation, puts something else there, and may turn its tabs."""

    take: str = ""
    put: str = ""
    old: str = ""
    new: str = ""
    """One step of indentation before and after, such as four spaces and a tab."""

    def __call__(self, indent: str) -> str:
        turned = indent.replace(self.old, self.new) if self.old else indent
        if turned.startswith(self.take):
            return self.put + turned[len(self.take) :]
        return self.put

    @property
    def is_aside(self) -> bool:
        """Whether it moves lines, and does more than turn their tabs."""
        return bool(self.take or self.put)

    def turning(self, ours: Sequence[str], given: Sequence[str]) -> Shift:
        """The same shift, with tabs for the steps of new lines where those of the search had none to tell."""
        steps = [indent for line in given if (indent := indent_of(line)) != line and indent]
        if self.old or set(self.put) != {"\t"} or any(map(indent_of, ours)) or "\t" in "".join(steps):
            return self
        return replace(self, old=min(steps, key=len, default=""), new="\t")


SAME = Shift()


def indent_of(line: str) -> str:
    """The blanks before the first other character."""
    return line[: len(line) - len(line.lstrip(BLANKS))]


def shift_between(ours: Sequence[str], theirs: Sequence[str]) -> Shift | None:
    """The one shift that turns the indentation of each line of ours into that of theirs, if there is one."""
    pairs = [
        (indent_of(one), indent_of(other))
        for one, other in zip(ours, theirs, strict=True)
        if one.strip(BLANKS)
    ]
    if not pairs:
        return SAME
    shallowest = min(pairs, key=lambda pair: len(pair[0]))
    plainest = sorted(_shifts(*shallowest), key=lambda shift: shift.is_aside)
    return next((shift for shift in plainest if all(shift(a) == b for a, b in pairs)), None)


def _shifts(ours: str, theirs: str) -> Iterator[Shift]:
    """What may have turned one indentation into the other."""
    steps = [("", "")]
    for width in (4, 2, 8, 3):
        steps += [(" " * width, "\t"), ("\t", " " * width)]
    for old, new in steps:
        turned = ours.replace(old, new) if old else ours
        if theirs.endswith(turned):
            yield Shift(put=theirs[: len(theirs) - len(turned)], old=old, new=new)
        elif turned.endswith(theirs):
            yield Shift(take=turned[: len(turned) - len(theirs)], old=old, new=new)
