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


class BlankText(str):
    """What an item of a list is before anybody filled it in: empty text that was never typed."""


BLANK: Final = BlankText("")


class ChosenBranch(BlankText):
    """Nothing yet, but of a shape that somebody chose."""

    at: int

    @classmethod
    def of(cls, at: int) -> ChosenBranch:
        chosen = cls("")
        chosen.at = at
        return chosen


class UnreadableText(str):
    """Text that could not be read as what its field asks for; it is shown again as it was typed."""

    __slots__ = ()


class ListRows(list[Any]):
    """Items with the keys of their rows, so that a row keeps its name when others go or move."""

    keys: tuple[str, ...] = ()


class ChosenObject(dict[str, Any]):
    """An object of a shape that somebody chose, though another would fit as well."""

    at: int

    @classmethod
    def of(cls, value: Mapping[str, Any], at: int) -> ChosenObject:
        shaped = cls(value)
        shaped.at = at
        return shaped


LazyField = Callable[[], "FormField"]
"""A field that is compiled when it is first needed, and then kept, since a schema may hold itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
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
class ChoiceField(FormField):
    """One of some values, each with a title."""

    options: tuple[tuple[Any, str], ...] = ()


@dataclass(frozen=True, slots=True)
class VisibilityCondition:
    """When a field of an object is of use."""

    show: Callable[[Mapping[str, Any], Any], bool]
    """(the object, the whole value) -> whether to show it."""
    terms: tuple[Mapping[str, Any], ...] = ()
    """The same for the script, or nothing where only the server can tell."""


@dataclass(frozen=True, slots=True)
class ObjectProperty:
    """A field of an object, under its name."""

    name: str
    step: str
    lazy_field: LazyField
    operator_only: bool = False
    when: VisibilityCondition | None = None


@dataclass(frozen=True, slots=True)
class FieldGroup:
    """Children under one heading; without a title they stand alone."""

    title: str
    children: tuple[ObjectProperty, ...]
    help: str = ""
    closed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectField(FormField):
    """Named values."""

    children: tuple[ObjectProperty, ...] = ()
    """In the order of the schema, those for operators included."""
    groups: tuple[FieldGroup, ...] = ()
    """What is drawn, in order."""
    additional: tuple[ObjectProperty, ...] = ()
    """What is drawn for operators only."""
    additional_title: str = ""
    additional_class: str = ""
    rest: Callable[[str], FormField]
    """The field of a further value, by its name."""
    grows: bool = False
    """Whether a person can add further values."""
    names: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    """Names of operators' fields that do not exist in this mode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListField(FormField):
    """Items: some with a place of their own, and any number of alike ones after them."""

    first: tuple[LazyField, ...] = ()
    item: LazyField | None = None
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnionField(FormField):
    """One of some shapes."""

    branches: tuple[UnionBranch, ...] = ()


@dataclass(frozen=True, slots=True)
class UnionBranch:
    """One shape of several, and how to tell that a value has it."""

    label: str
    lazy_field: LazyField
    match_score: Callable[[Any], int]


def option_index(options: Sequence[tuple[Any, str]], value: Any) -> int | None:
    """Where a value stands among options; true is not 1, and 1 is not 1.0."""
    for index, (option, _) in enumerate(options):
        if option == value and type(option) is type(value):
            return index
    return None
