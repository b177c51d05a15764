"""record: a frozen dataclass that is nearly as cheap to make as a mutable one, and cheaper to define.

`dataclass(frozen=True)` writes every field through `object.__setattr__`, which costs five times a plain
assignment, and a call makes half a dozen such objects. A record is filled like a mutable dataclass and then
closed: its last act is to become an instance of a subclass that refuses changes. Only its constructor is
compiled; printing and comparing are shared, since each function that a dataclass compiles delays the import.

Where a tenth of a microsecond counts, `constructor_of(Kind)` gives a function that makes the same records as
`Kind`, and `replacer_of(Kind)` one that makes them from others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, NoReturn, TypeVar, cast, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a frozen dataclass with slots. Fields and defaults as in a dataclass; no `__post_init__`."""
    kind: Any = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    compared = attrgetter(*(item.name for item in fields(kind) if item.compare))

    def equals(self: object, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return compared(self) == compared(other)

    kind.__eq__ = equals
    kind.__hash__ = _hash
    kind.__repr__ = _repr
    kind.__reduce__ = lambda self: (_rebuilt, (kind, _values(self), _late_values(self)))
    namespace = {
        "__slots__": (),
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "__doc__": kind.__doc__,
        "__new__": lambda cls, *args, **named: kind(*args, **named),
        "__init__": object.__init__,
        "__setattr__": _refuse_set,
        "__delattr__": _refuse_delete,
    }
    kind.__closed__ = type(kind.__name__, (kind,), namespace)
    kind.__init__ = _compiled(kind, "self", [], [])
    return cast(type[T], kind)


def constructor_of(kind: type[T]) -> type[T]:
    """A plain function for the class of a record, since Python calls functions faster than classes."""
    blank = type(kind.__name__, (kind,), {"__slots__": (), "__init__": object.__init__})
    make: type[T] = _compiled(kind, "", ["self = blank()"], ["return self"], blank=blank)
    return make


def replacer_of(kind: type[T]) -> Callable[[T, Mapping[str, Any]], T]:
    """What `dataclasses.replace` does, for the records of one class."""
    names: dict[str, Any] = {"make": constructor_of(kind)}
    init = (item.name for item in fields(cast(Any, kind)) if item.init)
    arguments = ", ".join(f"{name}=get({name!r}, record.{name})" for name in init)
    exec(f"def replace(record, changes):\n    get = changes.get\n    return make({arguments})", names)
    replace: Callable[[T, Mapping[str, Any]], T] = names["replace"]
    return replace


def _compiled(kind: Any, first: str, begin: list[str], end: list[str], **names: Any) -> Any:
    """A function that takes the fields of a record, fills one and closes it."""
    names |= {"closed": kind.__closed__, "missing": MISSING}
    parameters = [first] if first else []
    fill: list[str] = []
    for item in fields(kind):
        name, default = item.name, f"default_{item.name}"
        value = name
        if item.default_factory is not MISSING:
            names[default] = item.default_factory
            fresh = "{}" if item.default_factory is dict else f"{default}()"
            parameters.append(f"{name}=missing")
            value = f"{fresh} if {name} is missing else {name}"
        elif item.default is not MISSING:
            names[default] = item.default
            if item.init:
                parameters.append(f"{name}={default}")
            else:
                value = default
        else:
            parameters.append(name)
        fill.append(f"self.{name} = {value}")
    lines = [*begin, *fill, "self.__class__ = closed", *end]
    exec(f"def __init__({', '.join(parameters)}):\n    " + "\n    ".join(lines), names)
    return names["__init__"]


def _refuse_set(self: object, name: str, value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _values(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, item.name) for item in fields(self) if item.init)


def _late_values(self: Any) -> dict[str, Any]:
    """The fields that a constructor does not take, such as the number a log gives to an event."""
    return {item.name: getattr(self, item.name) for item in fields(self) if not item.init}


def _rebuilt(kind: Any, values: tuple[Any, ...], later: dict[str, Any]) -> Any:
    copied = kind(*values)
    for name, value in later.items():
        object.__setattr__(copied, name, value)
    return copied


def _hash(self: object) -> int:
    return hash((type(self), _values(self)))


@recursive_repr()
def _repr(self: Any) -> str:
    shown = ", ".join(f"{item.name}={getattr(self, item.name)!r}" for item in fields(self) if item.repr)
    return f"{type(self).__qualname__}({shown})"
