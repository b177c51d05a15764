"""Keys for doors that want one: each opens as one of the people of the table."""

from __future__ import annotations

from tests.parity.people import PEOPLE, REVIEWER

KEYS = {f"key-{name.replace(' ', '-')}": principal for name, principal in PEOPLE.items()} | {
    "key-reviewer": REVIEWER
}
REVIEWS = {"Authorization": "Bearer key-reviewer"}


def shown(who: str) -> dict[str, str]:
    """The key of somebody, as a header."""
    return {"Authorization": f"Bearer key-{who.replace(' ', '-')}"}
