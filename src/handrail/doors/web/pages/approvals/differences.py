"""differences: what an edit changes, value by value."""

from __future__ import annotations

from typing import Any, NamedTuple

from handrail.core.define.schema import JsonSchema
from handrail.doors.web.pages.approvals.exact import Place, Row, rows


class Change(NamedTuple):
    """One value that is not as it was; None is not there, before or after."""

    place: Place
    before: Row | None
    after: Row | None

    @property
    def row(self) -> Row:
        """Whichever there is, to name it by."""
        found = self.after or self.before
        assert found is not None
        return found


def differences(before: Any, after: Any, schema: JsonSchema | None = None) -> list[Change]:
    """What is not the same, in the order of the old values, then of the new ones."""
    old = {row.place: row for row in rows(before, schema)}
    new = {row.place: row for row in rows(after, schema)}
    changed = [
        Change(place, row, new.get(place))
        for place, row in old.items()
        if place not in new or new[place].literal != row.literal
    ]
    return changed + [Change(place, None, row) for place, row in new.items() if place not in old]
