"""Same: what was seen at a door, with ids and times taken out, and how it differs from the library. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

_ID = re.compile(r"\b(call|run|approval)_(?:[0-9a-f]{12}_\d+|1~[0-9a-f]{12})(?![0-9a-f])")
_SIZES = frozenset({"duration_ms", "bytes"})
"""How long a call took, and how large an attachment is, of which a log has the reference."""
_DROPPED = frozenset({"id", "seq", "position", "at", "session", "turn", "duration_ms"})
"""Of an event: when it was, where it stands, and what only some callers say of themselves."""


Events = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Observation:
    """One case at one door: what was told of it, and what the caller got."""

    events: Events
    answer: Any
    who_stopped: str = "a user cancelled it"
    """How this door says who ended a call."""

    def plain(self) -> dict[str, Any]:
        """As it can be compared: ids are numbered as they appear, times are gone."""
        names = _Names(self.who_stopped)
        events = [names.of(plain_event(one)) for one in self.events]
        return {"events": events, "answer": names.of(self.answer)}


def plain_event(event: dict[str, Any]) -> dict[str, Any]:
    """An event without its time and its place."""
    return {name: value for name, value in event.items() if name not in _DROPPED}


class _Names:
    def __init__(self, who_stopped: str) -> None:
        self._known: dict[str, str] = {}
        self._who_stopped = who_stopped

    def of(self, value: Any) -> Any:
        if isinstance(value, str):
            return _ID.sub(self._named, value).replace(self._who_stopped, "<somebody stopped it>")
        if isinstance(value, dict):
            return {self.of(name): self.of(part) for name, part in value.items() if name not in _SIZES}
        if isinstance(value, (list, tuple)):
            return [self.of(part) for part in value]
        return value

    def _named(self, found: re.Match[str]) -> str:
        kind = found[1]
        return self._known.setdefault(found[0], f"<{kind} {len(self._known) + 1}>")


def as_json(value: Any) -> Any:
    """A value as it comes out of JSON text."""
    return json.loads(json.dumps(value))


def difference(wanted: Observation, seen: Observation) -> str | None:
    """What a door does differently, in words; None when it does not."""
    left, right = wanted.plain(), seen.plain()
    told = list(_differences("", left, right))
    return "\n".join(told[:8]) if told else None


def _differences(path: str, left: Any, right: Any) -> Iterable[str]:
    if isinstance(left, dict) and isinstance(right, dict):
        for name in sorted({*left, *right}, key=str):
            where = f"{path}.{name}" if path else str(name)
            if name not in left:
                yield f"{where}: only at the door: {_short(right[name])}"
            elif name not in right:
                yield f"{where}: missing at the door: {_short(left[name])}"
            else:
                yield from _differences(where, left[name], right[name])
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for number, (one, other) in enumerate(zip(left, right, strict=True)):
            yield from _differences(f"{path}[{number}]", one, other)
    elif left != right or type(left) is not type(right):
        yield f"{path}: {_short(left)} became {_short(right)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 300 else f"{text[:150]} … {text[-140:]}"
