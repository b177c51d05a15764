"""What is sealed opens as it was, for its tenant, with its key, and in no other way."""

from __future__ import annotations

import base64
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.store.encryption import MissingKey, Seal, SealError

OLD, NEW = b"o" * 32, b"n" * 32
pytestmark = pytest.mark.req("RT-06", "BY-19")

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=10,
)


@given(json_values, st.text(st.characters(codec="utf-8"), min_size=1))
def test_what_was_sealed_opens_as_it_was(value: object, tenant: str) -> None:
    seal = Seal([NEW])
    assert seal.open(tenant, seal.close(tenant, value)) == value


def test_nothing_of_the_value_or_the_key_can_be_read() -> None:
    seal = Seal([NEW])
    sealed = seal.close("acme", {"pin": "4711-4711"})
    raw = base64.urlsafe_b64decode(sealed)
    assert b"4711" not in raw and b"pin" not in raw and NEW[:8] not in raw
    assert "nnnn" not in repr(seal) and NEW.hex() not in repr(seal)


def test_the_same_value_is_sealed_in_another_way_each_time() -> None:
    seal = Seal([NEW])
    assert len({seal.close("acme", "4711") for _ in range(50)}) == 50


def test_what_one_tenant_sealed_opens_for_no_other() -> None:
    seal = Seal([NEW])
    sealed = seal.close("acme", "4711")
    with pytest.raises(SealError, match="another place"):
        seal.open("other", sealed)


def test_what_is_about_one_thing_opens_for_no_other() -> None:
    seal = Seal([NEW])
    sealed = seal.close("acme", "4711", about="approval-1")
    assert seal.open("acme", sealed, about="approval-1") == "4711"
    for tenant, about in [("acme", "approval-2"), ("acme", ""), ("acmea", "pproval-1")]:
        with pytest.raises(SealError, match="another place"):
            seal.open(tenant, sealed, about=about)


@given(st.data())
def test_a_change_of_any_bit_is_found(data: st.DataObject) -> None:
    seal = Seal([NEW])
    raw = bytearray(base64.urlsafe_b64decode(seal.close("acme", {"amount": 10})))
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(SealError):
        seal.open("acme", base64.urlsafe_b64encode(raw).decode())


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda raw: base64.urlsafe_b64encode(raw).decode()))
def test_what_was_never_sealed_is_refused_in_words(text: str) -> None:
    with pytest.raises(SealError):
        Seal([NEW]).open("acme", text)


def test_after_a_change_of_keys_the_newest_seals_and_the_older_still_opens() -> None:
    before = Seal([OLD]).close("acme", "4711")
    seal = Seal([NEW, OLD])
    assert seal.open("acme", before) == "4711"
    after = seal.close("acme", "4711")
    assert Seal([NEW]).open("acme", after) == "4711"
    with pytest.raises(MissingKey):
        Seal([OLD]).open("acme", after)


def test_a_lost_key_is_named_and_the_remedy_told() -> None:
    lost, here = Seal([OLD]), Seal([NEW])
    with pytest.raises(MissingKey) as raised:
        here.open("acme", lost.close("acme", "4711"))
    told = str(raised.value)
    assert lost.newest in told and here.newest in told and "HANDRAIL_KEY" in told
    assert OLD.hex() not in told and NEW.hex() not in told


@pytest.mark.parametrize("keys", [[], [b"short"], [NEW, b""]])
def test_a_key_of_another_length_makes_no_seal(keys: list[bytes]) -> None:
    with pytest.raises(SealError, match="32 bytes"):
        Seal(keys)


def test_a_value_that_is_no_json_is_not_sealed() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        Seal([os.urandom(32)]).close("acme", float("nan"))
