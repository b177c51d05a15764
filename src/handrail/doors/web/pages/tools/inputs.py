"""ToolInput: what was posted for a tool, as a form or as JSON text, and what is wrong with it."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from handrail.core.define.call import FieldError
from handrail.core.define.json_values import is_too_deep
from handrail.core.define.redaction import drop_paths
from handrail.core.define.tool import Tool
from handrail.core.guard.admit import Admitted, admit
from handrail.doors.web.forms.control_names import escape_step
from handrail.doors.web.forms.fields import MISSING, ListRows
from handrail.doors.web.forms.form import form_of
from handrail.doors.web.forms.post import Upload, form_items
from handrail.doors.web.routing import PageContext
from handrail.platform.display_text import visible_json


class InvalidJson(ValueError):
    """The text is not JSON for a form; the message says why, to whoever typed it."""


def to_json_text(value: Any) -> str:
    """A value as JSON in which every character can be seen; reading it gives the same value."""
    return visible_json(value, indent=2)


def read_json_object(text: str, *, blank: bool = True) -> dict[str, Any]:
    """The input that a text is. No text is no input, unless there must be one."""
    if blank and not text.strip():
        return {}
    found = read_json_value(text)
    if not isinstance(found, dict):
        raise InvalidJson("The input is an object: names and values between { and }.")
    return found


def read_json_value(text: str) -> Any:
    """The value that a text is, if it is one and can be had back as it was typed."""
    try:
        found = json.loads(text, parse_constant=_no_number, parse_float=_number, object_pairs_hook=_object)
        found_text = json.dumps(found, ensure_ascii=False)
        found_text.encode()
        if is_too_deep(found):
            raise InvalidJson("It is nested too deeply.")
    except InvalidJson:
        raise
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InvalidJson(f"This is not JSON yet: {_reason(error)} at {where}.") from None
    except UnicodeEncodeError:
        raise InvalidJson("A text in it holds half a character (a lone surrogate).") from None
    except RecursionError:
        raise InvalidJson("It is nested too deeply.") from None
    except ValueError:
        raise InvalidJson("A number in it has too many digits.") from None
    return found


def _reason(error: json.JSONDecodeError) -> str:
    """Python's words for where it stopped, made into a part of a sentence."""
    return error.msg[:1].lower() + error.msg[1:]


def _no_number(name: str) -> Any:
    raise InvalidJson(f"{name} is not a number in JSON.")


def _number(text: str) -> float:
    found = float(text)
    if math.isinf(found):
        raise InvalidJson(f"The number {text[:40]} is too large.")
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise InvalidJson(f"The name {json.dumps(name, ensure_ascii=False)} stands there twice.")
        found[name] = value
    return found


InputMode = Literal["form", "json"]
Pairs = Sequence[tuple[str, str | Upload]]
MODE, TEXT, KEY, TOUCHED = "_face", "_json", "_key", "_touched"


def new_form_key() -> str:
    """A name for one drawn form: whatever is posted with it twice runs once."""
    return secrets.token_urlsafe(16)


@dataclass(frozen=True, slots=True)
class ToolInput:
    """What stands in a form: its value, or the text of which none could be made."""

    mode: InputMode = "form"
    value: Any = MISSING
    """As the form reads it; half-typed parts are kept as text."""
    text: str | None = None
    """What was typed as JSON."""
    errors: tuple[FieldError, ...] = ()
    said: str | None = None
    """What is wrong with the text as a whole."""
    key: str = field(default_factory=new_form_key)
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

    def turned(self, mode: InputMode, secrets: Collection[str] = ()) -> ToolInput:
        """The same by the other face. Text of which no value can be made stays as it is.

        A secret was typed behind dots: it is not written out as JSON, but left out of it.
        """
        if mode == self.mode or not self.readable:
            return self
        value, _ = drop_paths(self.args, secrets) if mode == "json" else (self.value, ())
        return replace(self, mode=mode, value=value, text=None, errors=(), key=new_form_key())

    def wrong(self, errors: Sequence[FieldError]) -> ToolInput:
        return replace(self, errors=tuple(errors))


async def posted_pairs(ctx: PageContext) -> Pairs:
    """The pairs that a form sent, files read."""
    return await form_items((await ctx.form()).multi_items())


def posted_value(pairs: Pairs, name: str) -> str | None:
    """The last text under a name."""
    return next((one for key, one in reversed(pairs) if key == name and isinstance(one, str)), None)


def read_input(tool: Tool, pairs: Pairs) -> ToolInput:
    """What was posted, by the face that it was typed into."""
    key = (posted_value(pairs, KEY) or new_form_key())[:100]
    if posted_value(pairs, MODE) == "json":
        text = posted_value(pairs, TEXT) or ""
        try:
            return ToolInput("json", read_json_object(text), text, key=key)
        except InvalidJson as error:
            return ToolInput("json", MISSING, text, said=str(error), key=key)
    read = form_of(tool).read(pairs)
    return ToolInput("form", read.value, errors=tuple(read.errors), key=key, done=read.done is not None)


def input_errors(tool: Tool, given: ToolInput) -> tuple[FieldError, ...]:
    """Everything that is wrong with an input: what could not be read, and what the tool would refuse."""
    if not given.readable:
        return ()
    unread = {error.path: error for error in given.errors}
    found = admit(tool, given.args)
    refused = () if isinstance(found, Admitted) else found
    return (*given.errors, *(error for error in refused if error.path not in unread))


def errors_at_touched(
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
        if isinstance(there, ListRows) and step.isdigit():
            at = int(step) - (len(there) - len(there.keys))
            name = there.keys[at] if 0 <= at < len(there.keys) else step
        pointer += f"/{escape_step(name)}"
        there = _inside(there, step)
    return pointer


def _inside(there: Any, step: str) -> Any:
    if isinstance(there, Mapping):
        return there.get(step)
    if isinstance(there, list) and step.isdigit() and int(step) < len(there):
        return there[int(step)]
    return None
