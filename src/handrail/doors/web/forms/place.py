"""Places: where in a form and in its value something stands."""

from __future__ import annotations

from handrail.doors.web.forms.wire import escaped


class Place:
    """A pointer by the keys of rows, which names controls, and a path by indices, which names values."""

    __slots__ = ("dotted", "pointer")

    def __init__(self, pointer: str = "", dotted: str = "") -> None:
        self.pointer = pointer
        self.dotted = dotted

    def child(self, step: str, name: str) -> Place:
        """The place of a named value; `step` is its name, escaped."""
        return Place(f"{self.pointer}/{step}", f"{self.dotted}.{name}" if self.dotted else name)

    def item(self, key: str, index: int) -> Place:
        """The place of an item, by the key of its row and by its index."""
        return Place(
            f"{self.pointer}/{escaped(key)}", f"{self.dotted}.{index}" if self.dotted else str(index)
        )

    def further(self, key: str, name: str) -> Place:
        """The place of a further value of an object, whose name is typed in its row."""
        return Place(f"{self.pointer}/~k{escaped(key)}", f"{self.dotted}.{name}" if self.dotted else name)
