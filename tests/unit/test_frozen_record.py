"""record: a frozen dataclass that is cheap to make."""

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar

import pytest

from handrail import Call, Principal, Result
from handrail.core.frozen_record import constructor_of, record, replacer_of


@record
class Point:
    """A place."""

    x: int
    y: int = 0

    @property
    def sum(self) -> int:
        return self.x + self.y


@record
class Named(Point):
    """A place with a name."""

    kind: ClassVar[str] = "named"
    name: str = "here"
    tags: list[str] = field(default_factory=list)
    seen: int = field(default=0, init=False)


def test_a_record_cannot_be_changed() -> None:
    for point in (Point(1), Named(1, 2, "a")):
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
            point.x = 5  # type: ignore[misc]
        with pytest.raises(FrozenInstanceError):
            point.other = 5  # type: ignore[attr-defined]
        with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
            del point.x
        assert point.x == 1


def test_records_are_equal_by_value_and_only_to_their_own_kind() -> None:
    assert Point(1) == Point(1, 0) == Point(x=1)
    assert Point(1) != Point(2) and Point(1) != Named(1) and Point(1) != [1, 0]  # type: ignore[comparison-overlap]
    assert Named(1, tags=["a"]) == Named(1, tags=["a"])


def test_equal_records_hash_alike_and_an_unhashable_part_says_so() -> None:
    assert len({Point(1), Point(1), Point(2)}) == 2
    assert hash(Call("t", principal=Principal("acme"))) == hash(Call("t", principal=Principal("acme")))
    with pytest.raises(TypeError, match="unhashable"):
        hash(Result())


def test_a_record_prints_as_what_makes_it_again() -> None:
    assert repr(Point(1)) == "Point(x=1, y=0)"
    assert repr(Named(1)) == "Named(x=1, y=0, name='here', tags=[], seen=0)"
    assert type(Point(1)).__name__ == "Point" and type(Point(1)).__doc__ == "A place."


def test_a_record_is_copied_pickled_and_replaced() -> None:
    point = Named(1, 2, "a", ["t"])
    object.__setattr__(point, "seen", 7)
    ways: list[Any] = [copy.copy(point), copy.deepcopy(point)]
    ways += [
        pickle.loads(pickle.dumps(point, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)
    ]
    for other in ways:
        assert other == point and other.seen == 7 and isinstance(other, Named)
        with pytest.raises(FrozenInstanceError):
            other.x = 5  # type: ignore[misc]
    assert copy.deepcopy(point).tags is not point.tags
    moved = dataclasses.replace(point, x=9)
    assert (moved.x, moved.y, moved.name) == (9, 2, "a")
    with pytest.raises(FrozenInstanceError):
        moved.x = 5  # type: ignore[misc]


def test_a_record_is_matched_by_place_and_by_name() -> None:
    match Named(1, 2, "a"):
        case Point(x, y):
            found = (x, y)
    match Named(1, 2, "a"):
        case Named(name=name, sum=total):
            assert (found, name, total) == ((1, 2), "a", 3)


def test_a_record_inherits_fields_properties_and_defaults() -> None:
    named = Named(1)
    assert isinstance(named, Point) and issubclass(Named, Point)
    assert (named.y, named.name, named.sum, named.kind) == (0, "here", 1, "named")
    assert named.tags == [] and Named(1).tags is not named.tags
    assert [one.name for one in dataclasses.fields(named)] == ["x", "y", "name", "tags", "seen"]
    assert not hasattr(named, "__dict__"), "slots all the way"


def test_a_record_wants_the_arguments_of_its_fields() -> None:
    with pytest.raises(TypeError, match="missing"):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected"):
        Point(1, z=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Named(1, seen=2)  # type: ignore[call-arg]


def test_a_maker_makes_the_same_records_as_their_class() -> None:
    make = constructor_of(Named)
    for made, again in ((make(1), Named(1)), (make(1, 2, name="a", tags=["b"]), Named(1, 2, "a", ["b"]))):
        assert made == again and type(made) is type(again) and repr(made) == repr(again)
    with pytest.raises(FrozenInstanceError):
        make(1).x = 5  # type: ignore[misc]
    assert make(1).tags is not make(1).tags


def test_a_changer_gives_what_dataclasses_replace_gives() -> None:
    given = Named(1, 2, "a", ["b"])
    for changes in ({}, {"x": 5}, {"name": "c", "tags": []}, {"y": None}):
        changed = replacer_of(Named)(given, changes)
        assert changed == dataclasses.replace(given, **changes) and changed is not given
        assert type(changed) is type(given)
    assert given == Named(1, 2, "a", ["b"])
