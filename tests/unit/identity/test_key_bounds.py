"""How keys and tokens are spelled, and that nothing but the right one is taken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Handrail, Principal, define
from handrail.core.define.levels import LEVELS, Level
from handrail.identity.api_keys import new_key, parse_key
from handrail.identity.authenticator import SessionSigner, SignedSession

SIGNER = SessionSigner(b"k" * 32)
SAID = SignedSession("acme", "user_1", 3, 2_000.0)


def test_a_key_names_its_tenant_and_shows_no_secret() -> None:
    key = new_key("acme-berlin")
    text = key.reveal()
    assert text.startswith("hr_acme-berlin_") and parse_key(text) == key
    assert key.secret not in repr(key) + str(key) + key.prefix + key.digest
    assert len(key.secret) == 64 and text.startswith(key.prefix)


def test_only_the_same_key_has_the_same_digest() -> None:
    key, other = new_key("acme"), new_key("acme")
    assert key.is_of(key.digest) and not key.is_of(other.digest) and not key.is_of(None)


@given(st.text(max_size=200) | st.from_regex(r"hr_[a-z0-9_-]*_[0-9a-f]*_[0-9a-f]*"))
def test_whatever_is_no_key_is_nobody(text: str) -> None:
    found = parse_key(text)
    assert found is None or found.reveal() == text


@given(st.data())
def test_a_token_with_anything_changed_is_nobody(data: st.DataObject) -> None:
    token = SIGNER.sign(SAID)
    at = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.sampled_from("AZaz09.-_=é "))
    changed = token[:at] + other + token[at + 1 :]
    assert SIGNER.read(changed, 1_000.0) == (SAID if changed == token else None)


@given(st.text(max_size=300))
def test_whatever_is_no_token_is_nobody(text: str) -> None:
    assert SIGNER.read(text, 0.0) is None


def test_a_token_is_read_until_it_is_over_and_by_its_own_house_only() -> None:
    token = SIGNER.sign(SAID)
    assert SIGNER.read(token, 1_999.9) == SAID
    assert SIGNER.read(token, 2_000.0) is None
    assert SessionSigner(b"x" * 32).read(token, 0.0) is None
    with pytest.raises(ValueError, match="32 bytes"):
        SessionSigner(b"short")


def _tools() -> list[object]:
    return [
        define(f"data.{level}", {"description": "It does.", "level": level, "execute": dict})
        for level in LEVELS
    ]


@pytest.mark.req("PM-17", "PM-18", "PM-25")
@pytest.mark.parametrize("ceiling", LEVELS)
async def test_a_key_reaches_up_to_its_level_in_listings_and_in_calls(ceiling: Level) -> None:
    hr = Handrail(_tools())
    who = Principal("acme", "ana", key="person", ceiling=ceiling)
    within = LEVELS[: LEVELS.index(ceiling) + 1]
    assert [tool.level for tool in await hr.tools(who)] == sorted(within)
    for level in LEVELS:
        out = await hr.call(f"data.{level}", {"unknown": 1}, principal=who, source="api")
        assert out.result.code == ("INVALID_PARAM" if level in within else "NOT_PERMITTED")
        if level not in within:
            assert out.decision is not None and out.decision.rule == "key"


@pytest.mark.req("PM-17", "PM-18")
async def test_a_key_reaches_the_tools_it_names_in_listings_searches_and_calls() -> None:
    told = {"description": "It does.", "level": "read", "execute": dict}
    hr = Handrail([define(name, told) for name in ("a.one", "a.two", "b.one")])
    who = Principal("acme", scope=["a.*"])
    assert [tool.id for tool in await hr.tools(who)] == ["a.one", "a.two"]
    assert [found.tool.id for found in await hr.search("one", who)] == ["a.one"]
    assert (await hr.call("a.one", principal=who)).ok
    assert (await hr.call("b.one", principal=who)).result.code == "NOT_PERMITTED"
    assert await hr.tools(Principal("acme", scope=[])) == []
    assert (await hr.call("b.one", principal=who.spawn("child"))).result.code == "NOT_PERMITTED"


@pytest.mark.req("PM-18")
async def test_where_arguments_say_the_level_the_ceiling_is_held_against_that() -> None:
    told = {
        "description": "Do it.",
        "params": {"how": {"type": "string"}},
        "level": lambda args: args.how,
        "execute": lambda args: args.how,
    }
    hr = Handrail([define("files.do", told)])
    who = Principal("acme", ceiling="draft")
    assert [one.id for one in await hr.tools(who)] == ["files.do"]
    assert (await hr.call("files.do", {"how": "draft"}, principal=who)).ok
    assert (await hr.call("files.do", {"how": "write"}, principal=who)).result.code == "NOT_PERMITTED"
    person = Principal("acme", "ana", key="person", ceiling="read")
    assert (await hr.call("files.do", {"how": "draft"}, principal=person, source="web")).result.code == (
        "NOT_PERMITTED"
    )


@pytest.mark.req("BY-10")
@given(
    st.builds(
        Principal,
        st.just("acme"),
        st.none() | st.just("ana"),
        roles=st.lists(st.sampled_from(["viewer", "owner"])),
        permissions=st.lists(st.sampled_from(["*", "a.b"])),
        agent=st.none() | st.just("bot"),
        key=st.sampled_from(["agent", "person", "service"]),
        ancestors=st.lists(st.just("above")),
        scope=st.none() | st.lists(st.sampled_from(["a.*", "b"])),
        ceiling=st.none() | st.sampled_from(LEVELS),
        embed=st.booleans(),
    )
)
def test_a_principal_that_is_kept_comes_back_with_all_its_bounds(who: Principal) -> None:
    assert Principal.from_dict(who.to_dict()) == who
    with pytest.raises(TypeError):
        Principal.from_dict({**who.to_dict(), "another_bound": 1})


def test_bounds_that_mean_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="ceiling"):
        Principal("acme", ceiling="everything")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="scope"):
        Principal("acme", scope="data.*")
