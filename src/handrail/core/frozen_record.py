"""record: a frozen dataclass that is nearly as cheap to make as a mutable one.

`dataclass(frozen=True)` writes every field through `object.__setattr__`, which costs five times a plain
assignment, and a call makes half a dozen such objects. A record is filled like a mutable dataclass and then
closed: its last act is to become an instance of a subclass that refuses to be changed.

Where a tenth of a microsecond counts, `maker(Kind)` gives a function that makes the same records as `Kind`,
and `changer(Kind)` one that makes them from others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from typing import Any, NoReturn, TypeVar, cast, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a frozen dataclass with slots. Fields and defaults as in a dataclass; no `__post_init__`."""
    made: Any = dataclass(slots=True)(cls)
    made.__hash__ = _hash
    made.__reduce__ = lambda self: (_rebuilt, (made, _values(self), _late_values(self)))
    namespace = {
        "__slots__": (),
        "__module__": made.__module__,
        "__qualname__": made.__qualname__,
        "__doc__": made.__doc__,
        "__new__": lambda cls, *args, **named: made(*args, **named),
        "__init__": object.__init__,
        "__setattr__": _refuse_set,
        "__delattr__": _refuse_delete,
    }
    made.__closed__ = type(made.__name__, (made,), namespace)
    made.__init__ = _compiled(made, "self", [], [])
    kind: type[T] = made
    return kind


def constructor_of(kind: type[T]) -> type[T]:
    """A plain function for the class of a record, since Python calls functions faster than classes."""
    blank = type(kind.__name__, (kind,), {"__slots__": (), "__init__": object.__init__})
    make: type[T] = _compiled(kind, "", ["self = blank()"], ["return self"], blank=blank)
    return make


def replacer_of(kind: type[T]) -> Callable[[T, Mapping[str, Any]], T]:
    """What `dataclasses.replace` does, for the records of one class."""
    known: dict[str, Any] = {"make": constructor_of(kind)}
    named = (f"{one.name}=get({one.name!r}, given.{one.name})" for one in fields(cast(Any, kind)) if one.init)
    exec(f"def change(given, changes):\n    get = changes.get\n    return make({', '.join(named)})", known)
    change: Callable[[T, Mapping[str, Any]], T] = known["change"]
    return change


def _compiled(made: Any, first: str, begin: list[str], end: list[str], **known: Any) -> Any:
    """A function that takes the fields of a record, fills one and closes it."""
    known |= {"closed": made.__closed__, "missing": MISSING}
    parameters = [first] if first else []
    fill: list[str] = []
    for one in fields(made):
        name, default = one.name, f"default_{one.name}"
        value = name
        if one.default_factory is not MISSING:
            known[default] = one.default_factory
            made_anew = "{}" if one.default_factory is dict else f"{default}()"
            parameters.append(f"{name}=missing")
            value = f"{made_anew} if {name} is missing else {name}"
        elif one.default is not MISSING:
            known[default] = one.default
            if one.init:
                parameters.append(f"{name}={default}")
            else:
                value = default
        else:
            parameters.append(name)
        fill.append(f"self.{name} = {value}")
    lines = [*begin, *fill, "self.__class__ = closed", *end]
    exec(f"def __init__({', '.join(parameters)}):\n    " + "\n    ".join(lines), known)
    return known["__init__"]


def _refuse_set(self: object, name: str, value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _values(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, one.name) for one in fields(self) if one.init)


def _late_values(self: Any) -> dict[str, Any]:
    """The fields that a constructor does not take, such as the number a log gives to an event."""
    return {one.name: getattr(self, one.name) for one in fields(self) if not one.init}


def _rebuilt(made: Any, values: tuple[Any, ...], later: dict[str, Any]) -> Any:
    again = made(*values)
    for name, value in later.items():
        object.__setattr__(again, name, value)
    return again


def _hash(self: object) -> int:
    return hash((type(self), _values(self)))
