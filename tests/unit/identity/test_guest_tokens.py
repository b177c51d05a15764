"""Guests: a note opens the session that it was made for, and no change of it opens anything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.core.errors import UsageError
from handrail.identity.errors import RateLimited
from handrail.identity.tool_sessions import (
    MAX_GUEST_NAME,
    Guest,
    display_name,
    guest_token,
    parse_guest_token,
)
from handrail.store.encryption import Seal
from handrail.store.tool_sessions import ToolSession

SEAL = Seal([b"k" * 32])
BO = Guest("acme", "t1", "link1", "guest:1", "Bo")
NOTE = guest_token(BO, SEAL)


@pytest.mark.req("CS-06")
def test_a_note_is_read_for_its_own_session_only() -> None:
    assert parse_guest_token(NOTE, "t1", SEAL) == BO
    assert parse_guest_token(NOTE, "t2", SEAL) is None
    assert parse_guest_token(NOTE.replace("acme", "other"), "t1", SEAL) is None
    assert parse_guest_token(NOTE, "t1", Seal([b"x" * 32])) is None


@pytest.mark.req("CS-06")
@given(st.integers(0, len(NOTE) - 1), st.characters())
def test_no_changed_note_is_read(at: int, letter: str) -> None:
    changed = NOTE[:at] + letter + NOTE[at + 1 :]
    assert changed == NOTE or parse_guest_token(changed, "t1", SEAL) is None


@given(st.text())
def test_whatever_is_shown_in_the_place_of_a_note_is_read_or_not(text: str) -> None:
    assert parse_guest_token(text, "t1", SEAL) is None


@given(st.text())
def test_a_name_that_is_taken_can_be_read_by_the_others(text: str) -> None:
    try:
        name = display_name(text)
    except UsageError:
        return
    assert name and len(name) <= MAX_GUEST_NAME and name.isprintable() and name == " ".join(name.split())


def test_a_guest_belongs_to_a_session_while_the_link_lives_by_which_they_came() -> None:
    def session(share: str | None, until: float | None, tenant: str = "acme", id: str = "t1") -> ToolSession:
        return ToolSession(id, tenant, "x", "X", "ana", 0.0, share_id=share, share_expires_at=until)

    assert BO.belongs_to(session("link1", 10.0), 9.0)
    for other in (
        session("link1", 9.0),
        session("link2", 10.0),
        session(None, None),
        session("link1", 10.0, "other"),
        session("link1", 10.0, id="t2"),
    ):
        assert not BO.belongs_to(other, 9.0)


@pytest.mark.parametrize(
    ("wait", "said"),
    [(0.2, "1 second"), (59.5, "60 seconds"), (61, "2 minutes"), (3_601, "2 hours"), (86_400, "24 hours")],
)
def test_whoever_did_something_too_often_is_told_how_long_to_wait(wait: float, said: str) -> None:
    assert str(RateLimited("Enough.", wait)) == f"Enough. Try again in {said}."
