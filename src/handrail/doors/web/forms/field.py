"""Fields: what a form is made of, compiled once from a schema and its hints, and never changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

ToolFormMode = Literal["internal", "embed"]


class _Missing:
    """No value at all: not even null."""

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = _Missing()


class Blank(str):
    """What an item of a list is before anybody filled it in: empty text that was never typed."""


BLANK: Final = Blank("")


class Chosen(Blank):
    """Nothing yet, but of a shape that somebody chose."""

    at: int

    @classmethod
    def of(cls, at: int) -> Chosen:
        chosen = cls("")
        chosen.at = at
        return chosen


class Typed(str):
    """Text that could not be read as what its field asks for; it is shown again as it was typed."""

    __slots__ = ()


class Rows(list[Any]):
    """Items with the keys of their rows, so that a row keeps its name when others go or move."""

    keys: tuple[str, ...] = ()


class Shaped(dict[str, Any]):
    """An object of a shape that somebody chose, though another would fit as well."""

    at: int

    @classmethod
    def of(cls, value: Mapping[str, Any], at: int) -> Shaped:
        shaped = cls(value)
        shaped.at = at
        return shaped


class Later:
    """A field that is compiled when it is first needed, since a schema may hold itself."""

    __slots__ = ("_compile", "_field")

    def __init__(self, compile_it: Callable[[], Field]) -> None:
        self._compile = compile_it
        self._field: Field | None = None

    def __call__(self) -> Field:
        if self._field is None:
            self._field = self._compile()
        return self._field


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One place of a value: what it is called, what it takes, and the widget that asks for it."""

    widget: str
    label: str = ""
    help: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)
    hints: Mapping[str, Any] = field(default_factory=dict)
    required: bool = False
    nullable: bool = False
    row: bool = False
    """An item of a list or a further value: it is there, so it cannot be left out."""
    top: bool = False
    default: Any = MISSING
    demand: bool = False
    """Drawn only once there is a value: it may hold itself, or be null."""
    operator_only: bool = False
    readonly: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceField(Field):
    """One of some values, each with a title."""

    options: tuple[tuple[Any, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Condition:
    """When a field of an object is of use."""

    show: Callable[[Mapping[str, Any], Any], bool]
    """(the object, the whole value) -> whether to show it."""
    told: tuple[Mapping[str, Any], ...] = ()
    """The same for the script, or nothing where only the server can tell."""


@dataclass(frozen=True, slots=True)
class Child:
    """A field of an object, under its name."""

    name: str
    step: str
    later: Later
    operator_only: bool = False
    when: Condition | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Children under one heading; without a title they stand alone."""

    title: str
    children: tuple[Child, ...]
    help: str = ""
    closed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectField(Field):
    """Named values."""

    children: tuple[Child, ...] = ()
    """In the order of the schema, those for operators included."""
    groups: tuple[Group, ...] = ()
    """What is drawn, in order."""
    additional: tuple[Child, ...] = ()
    """What is drawn for operators only."""
    additional_title: str = ""
    additional_class: str = ""
    rest: Callable[[str], Field]
    """The field of a further value, by its name."""
    grows: bool = False
    """Whether a person can add further values."""
    names: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    """Names of operators' fields that do not exist in this mode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListField(Field):
    """Items: some with a place of their own, and any number of alike ones after them."""

    first: tuple[Later, ...] = ()
    item: Later | None = None
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnionField(Field):
    """One of some shapes."""

    branches: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True)
class Branch:
    """One shape of several, and how to tell that a value has it."""

    label: str
    later: Later
    likeness: Callable[[Any], int]


def known_options(options: Sequence[tuple[Any, str]], value: Any) -> int | None:
    """Where a value stands among options; true is not 1, and 1 is not 1.0."""
    for index, (one, _) in enumerate(options):
        if one == value and type(one) is type(value):
            return index
    return None
