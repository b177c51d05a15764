"""Keys for doors that want one: each opens as one of the people of the table."""

from __future__ import annotations

from dataclasses import replace

from handrail import Handrail, Principal
from handrail.identity.errors import NotSignedIn
from handrail.platform import FixedKeys, Platform, platform_of
from tests.parity.people import PEOPLE, REVIEWER

TEXTS = {name: f"key-{name.replace(' ', '-')}" for name in PEOPLE}
"""The key of each of the people."""
KEYS = {TEXTS[name]: principal for name, principal in PEOPLE.items()} | {"key-reviewer": REVIEWER}
REAL = "real key"
"""Whoever comes with a key that a database knows; see `test_real_keys`."""
REVIEWS = {"Authorization": "Bearer key-reviewer"}


SESSION = {"Cookie": "handrail_session=session-person"}


def shown(who: str) -> dict[str, str]:
    """What somebody shows: a key, or the session of a person who is signed in."""
    if who == "person":
        return SESSION
    return {"Authorization": f"Bearer {TEXTS[who]}"}


class Keys(FixedKeys):
    """Fixed keys, and the session of one person."""

    async def principal_from_session(self, token: str) -> Principal:
        if token != "session-person":
            raise NotSignedIn
        return PEOPLE["person"]


def platform_before(hr: Handrail) -> Platform:
    """A platform that these keys open, with or without a database."""
    return replace(platform_of(hr), auth=Keys(KEYS))
