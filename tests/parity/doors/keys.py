"""Keys for doors that want one: each opens as one of the people of the table."""

from __future__ import annotations

from dataclasses import replace

from handrail import Handrail
from handrail.platform import FixedKeys, Platform, platform_of
from tests.parity.people import PEOPLE, REVIEWER

KEYS = {f"key-{name.replace(' ', '-')}": principal for name, principal in PEOPLE.items()} | {
    "key-reviewer": REVIEWER
}
REVIEWS = {"Authorization": "Bearer key-reviewer"}


def shown(who: str) -> dict[str, str]:
    """The key of somebody, as a header."""
    return {"Authorization": f"Bearer key-{who.replace(' ', '-')}"}


def platform_before(hr: Handrail) -> Platform:
    """A platform that these keys open, with or without a database."""
    if hr.offices is None:
        return platform_of(hr, KEYS)
    return replace(platform_of(hr), who=FixedKeys(KEYS))
