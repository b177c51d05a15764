"""Inputs: what was posted with the form of a tool by one of its two faces, and what is wrong with it."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from handrail.core.define.call import FieldError
from handrail.core.define.secrecy import without
from handrail.core.define.tool import Tool
from handrail.core.guard.admit import Admitted, admit
from handrail.doors.web.forms.field import MISSING, Rows
from handrail.doors.web.forms.form import form_of
from handrail.doors.web.forms.post import Upload, taken
from handrail.doors.web.forms.wire import escaped
from handrail.doors.web.pages.tools.jsontext import NotJson, read_object
from handrail.doors.web.routing import Reader

Face = Literal["form", "json"]
Pairs = Sequence[tuple[str, str | Upload]]
FACE, TEXT, KEY, TOUCHED = "_face", "_json", "_key", "_touched"


def new_key() -> str:
    """A name for one drawn form: whatever is posted with it twice runs once."""
    return secrets.token_urlsafe(16)


@dataclass(frozen=True, slots=True)
class Input:
    """What stands in a form: its value, or the text of which none could be made."""

    face: Face = "form"
    value: Any = MISSING
    """As the form reads it; half-typed parts are kept as text."""
    text: str | None = None
    """What was typed as JSON."""
    errors: tuple[FieldError, ...] = ()
    said: str | None = None
    """What is wrong with the text as a whole."""
    key: str = field(default_factory=new_key)
    done: bool = False
    """Whether a button of the form was pressed that only changes the form."""

    @property
    def readable(self) -> bool:
        """Whether there is a value at all."""
        return self.said is None

    @property
    def args(self) -> dict[str, Any]:
        """The value as arguments; what is half-typed stands there as its text."""
        return {} if self.value is MISSING else dict(self.value)

    def turned(self, face: Face, secrets: Collection[str] = ()) -> Input:
        """The same by the other face. Text of which no value can be made stays as it is.

        A secret was typed behind dots: it is not written out as JSON, but left out of it.
        """
        if face == self.face or not self.readable:
            return self
        value, _ = without(self.args, secrets) if face == "json" else (self.value, ())
        return replace(self, face=face, value=value, text=None, errors=(), key=new_key())

    def wrong(self, errors: Sequence[FieldError]) -> Input:
        return replace(self, errors=tuple(errors))


async def posted(reader: Reader) -> Pairs:
    """The pairs that a form sent, files read."""
    return await taken((await reader.form()).multi_items())


def text_under(pairs: Pairs, name: str) -> str | None:
    """The last text under a name."""
    return next((one for key, one in reversed(pairs) if key == name and isinstance(one, str)), None)


def read_input(tool: Tool, pairs: Pairs) -> Input:
    """What was posted, by the face that it was typed into."""
    key = (text_under(pairs, KEY) or new_key())[:100]
    if text_under(pairs, FACE) == "json":
        text = text_under(pairs, TEXT) or ""
        try:
            return Input("json", read_object(text), text, key=key)
        except NotJson as error:
            return Input("json", MISSING, text, said=str(error), key=key)
    read = form_of(tool).read(pairs)
    return Input("form", read.value, errors=tuple(read.errors), key=key, done=read.done is not None)


def faults_of(tool: Tool, given: Input) -> tuple[FieldError, ...]:
    """Everything that is wrong with an input: what could not be read, and what the tool would refuse."""
    if not given.readable:
        return ()
    unread = {error.path: error for error in given.errors}
    found = admit(tool, given.args)
    refused = () if isinstance(found, Admitted) else found
    return (*given.errors, *(error for error in refused if error.path not in unread))


def touched_only(
    errors: Sequence[FieldError], value: Any, touched: Collection[str]
) -> tuple[FieldError, ...]:
    """The errors at controls that somebody was at, or around them; controls go by their names."""
    places = {name[1:] for name in touched}
    return tuple(error for error in errors if _was_at(_pointer(value, error.path), places))


def _was_at(pointer: str, places: Collection[str]) -> bool:
    return any(one == pointer or one.startswith(f"{pointer}/") for one in places)


def _pointer(value: Any, path: str) -> str:
    """Where the control of a path stands. Rows go by keys of their own, not by their number."""
    pointer, there = "", value
    for step in path.split(".") if path else ():
        name = step
        if isinstance(there, Rows) and step.isdigit():
            at = int(step) - (len(there) - len(there.keys))
            name = there.keys[at] if 0 <= at < len(there.keys) else step
        pointer += f"/{escaped(name)}"
        there = _inside(there, step)
    return pointer


def _inside(there: Any, step: str) -> Any:
    if isinstance(there, Mapping):
        return there.get(step)
    if isinstance(there, list) and step.isdigit() and int(step) < len(there):
        return there[int(step)]
    return None
