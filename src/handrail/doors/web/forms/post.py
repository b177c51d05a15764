"""Posts: what a form sent, by name, and what is found out while it is read."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

from handrail.core.define.call import FieldError
from handrail.doors.web.forms.control_names import DO, MODE, VALUE, FieldLocation
from handrail.doors.web.forms.fields import ToolFormMode


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was sent with a form."""

    name: str
    type: str
    data: bytes

    def to_data_url(self) -> str:
        """The file as a data URL (RFC 2397) that also carries its name."""
        kind = self.type or "application/octet-stream"
        name = f";name={quote(self.name, safe='')}" if self.name else ""
        return f"data:{kind}{name};base64,{base64.b64encode(self.data).decode()}"


class _SentFile(Protocol):
    """A file as a web server hands it over."""

    filename: str | None
    content_type: str | None

    async def read(self, size: int = -1) -> bytes: ...

    async def close(self) -> None: ...


async def form_items(items: Iterable[tuple[str, Any]]) -> list[tuple[str, str | Upload]]:
    """The items of a form as a server got them, files read: `await form_items(form.multi_items())`."""
    return [(name, item if isinstance(item, str) else await _upload(item)) for name, item in items]


async def _upload(sent: _SentFile) -> Upload:
    data = await sent.read()
    await sent.close()
    return Upload(sent.filename or "", sent.content_type or "", data)


class FormPost:
    """One post while it is read."""

    __slots__ = ("_sent", "do", "done", "errors", "kept", "mode", "places")

    def __init__(self, items: Iterable[tuple[str, str | Upload]], mode: ToolFormMode) -> None:
        sent: dict[str, list[str | Upload]] = {}
        for name, item in items:
            sent.setdefault(name, []).append(item)
        self._sent: Mapping[str, list[str | Upload]] = sent
        self.do = self.text(DO) or ""
        self.places: set[str] = set()
        """The pointers of everything that was sent, and of what it stands in."""
        for pointer in (*(name[1:] for name in sent), self.do.partition(":")[2]):
            while pointer and pointer not in self.places:
                self.places.add(pointer)
                pointer = pointer.rpartition("/")[0]
        self.done: str | None = None
        self.errors: list[FieldError] = []
        self.kept: list[str] = []
        self.mode = mode

    def text(self, name: str) -> str | None:
        """The last text under a name."""
        return next(reversed(self.texts(name)), None)

    def texts(self, name: str) -> list[str]:
        return [item for item in self._sent.get(name, ()) if isinstance(item, str)]

    def uploads(self, name: str) -> list[Upload]:
        """The files under a name; a browser sends one without a name for none."""
        files = [item for item in self._sent.get(name, ()) if isinstance(item, Upload)]
        return [file for file in files if file.name or file.data]

    def value(self, location: FieldLocation) -> str | None:
        return self.text(VALUE + location.pointer)

    def way(self, location: FieldLocation) -> str | None:
        """How the field at a place was drawn, or what it means when it is empty."""
        return self.text(MODE + location.pointer)

    def is_absent(self, location: FieldLocation) -> bool:
        """Whether nothing of a field was sent: no value, and not what an empty box means."""
        return self.value(location) is None and self.way(location) is None

    def asked(self, verb: str, location: FieldLocation) -> bool:
        """Whether a button asks for this here; if so it counts as done."""
        if self.do != f"{verb}:{location.pointer}":
            return False
        self.done = verb
        return True

    def wrong(self, location: FieldLocation, reason: str) -> None:
        self.errors.append(FieldError(location.dotted, reason))

    def needs(self, location: FieldLocation) -> None:
        """An item of a list is not filled in."""
        self.errors.append(FieldError(location.dotted, "is required", missing=True))
