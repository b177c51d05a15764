"""Places: where in a form and in its value something stands."""

from __future__ import annotations

from handrail.doors.web.forms.wire import escaped


class Place:
    """A pointer by the keys of rows, which names controls, and a path by indices, which names values."""

    __slots__ = ("dotted", "pointer", "still")

    def __init__(self, pointer: str = "", dotted: str = "", still: bool = False) -> None:
        self.pointer = pointer
        self.dotted = dotted
        self.still = still
        """Whether it is the same field in every drawing: no row, no chosen shape on the way."""

    def child(self, step: str, name: str) -> Place:
        """The place of a named value; `step` is its name, escaped."""
        dotted = f"{self.dotted}.{name}" if self.dotted else name
        return Place(f"{self.pointer}/{step}", dotted, self.still)

    def item(self, key: str, index: int) -> Place:
        """The place of an item, by the key of its row and by its index."""
        return Place(
            f"{self.pointer}/{escaped(key)}", f"{self.dotted}.{index}" if self.dotted else str(index)
        )

    def within(self) -> Place:
        """The place of the shape that was chosen for this one: the same value, controls of its own."""
        return Place(f"{self.pointer}/~u", self.dotted)

    def further(self, key: str, name: str) -> Place:
        """The place of a further value of an object, whose name is typed in its row."""
        return Place(f"{self.pointer}/~k{escaped(key)}", f"{self.dotted}.{name}" if self.dotted else name)
