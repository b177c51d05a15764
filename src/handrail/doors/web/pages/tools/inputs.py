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
from handrail.doors.web.router import PageContext
from handrail.platform.display_text import visible_json

_TOO_DEEP = "It is nested too deeply."


class InvalidJson(ValueError):
    """The text is not JSON for a form; the message says why, to whoever typed it."""


def to_json_text(value: Any) -> str:
    """A value as JSON in which every character can be seen; reading it gives the same value."""
    return visible_json(value, indent=2)


def read_json_object(text: str, *, blank: bool = True) -> dict[str, Any]:
    """The input that a text is. No text is no input, unless there must be one."""
    if blank and not text.strip():
        return {}
    value = read_json_value(text)
    if not isinstance(value, dict):
        raise InvalidJson("The input is an object: names and values between { and }.")
    return value


def read_json_value(text: str) -> Any:
    """The value that a text is, if it is one and can be had back as it was typed."""
    try:
        value = json.loads(text, parse_constant=_no_number, parse_float=_number, object_pairs_hook=_object)
        json.dumps(value, ensure_ascii=False).encode()
    except InvalidJson:
        raise
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InvalidJson(f"This is not JSON yet: {_reason(error)} at {where}.") from None
    except UnicodeEncodeError:
        raise InvalidJson("A text in it holds half a character (a lone surrogate).") from None
    except RecursionError:
        raise InvalidJson(_TOO_DEEP) from None
    except ValueError:
        raise InvalidJson("A number in it has too many digits.") from None
    if is_too_deep(value):
        raise InvalidJson(_TOO_DEEP)
    return value


def _reason(error: json.JSONDecodeError) -> str:
    """Python's words for where it stopped, made into a part of a sentence."""
    return error.msg[:1].lower() + error.msg[1:]


def _no_number(name: str) -> Any:
    raise InvalidJson(f"{name} is not a number in JSON.")


def _number(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise InvalidJson(f"The number {text[:40]} is too large.")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise InvalidJson(f"The name {json.dumps(name, ensure_ascii=False)} stands there twice.")
        members[name] = value
    return members


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
    problem: str | None = None
    """Why no value could be made of the text."""
    key: str = field(default_factory=new_form_key)
    done: bool = False
    """Whether a button of the form was pressed that only changes the form."""

    @property
    def readable(self) -> bool:
        """Whether there is a value at all."""
        return self.problem is None

    @property
    def args(self) -> dict[str, Any]:
        """The value as arguments; what is half-typed stands there as its text."""
        return {} if self.value is MISSING else dict(self.value)

    def in_mode(self, mode: InputMode, secrets: Collection[str] = ()) -> ToolInput:
        """The same in the other mode. Text of which no value can be made stays as it is.

        A secret was typed behind dots: it is not written out as JSON, but left out of it.
        """
        if mode == self.mode or not self.readable:
            return self
        value, _ = drop_paths(self.args, secrets) if mode == "json" else (self.value, ())
        return replace(self, mode=mode, value=value, text=None, errors=(), key=new_form_key())

    def with_errors(self, errors: Sequence[FieldError]) -> ToolInput:
        return replace(self, errors=tuple(errors))


async def posted_pairs(ctx: PageContext) -> Pairs:
    """The pairs that a form sent, files read."""
    return await form_items((await ctx.form()).multi_items())


def posted_value(pairs: Pairs, name: str) -> str | None:
    """The last text under a name."""
    return next((value for key, value in reversed(pairs) if key == name and isinstance(value, str)), None)


def read_input(tool: Tool, pairs: Pairs) -> ToolInput:
    """What was posted, by the mode that it was typed in."""
    key = (posted_value(pairs, KEY) or new_form_key())[:100]
    if posted_value(pairs, MODE) == "json":
        text = posted_value(pairs, TEXT) or ""
        try:
            return ToolInput("json", read_json_object(text), text, key=key)
        except InvalidJson as error:
            return ToolInput("json", MISSING, text, problem=str(error), key=key)
    parsed = form_of(tool).read(pairs)
    return ToolInput("form", parsed.value, errors=parsed.errors, key=key, done=parsed.done is not None)


def input_errors(tool: Tool, tool_input: ToolInput) -> tuple[FieldError, ...]:
    """Everything that is wrong with an input: what could not be read, and what the tool would refuse."""
    if not tool_input.readable:
        return ()
    unread = {error.path: error for error in tool_input.errors}
    admitted = admit(tool, tool_input.args)
    refused = () if isinstance(admitted, Admitted) else admitted
    return (*tool_input.errors, *(error for error in refused if error.path not in unread))


def errors_at_touched(
    errors: Sequence[FieldError], value: Any, touched: Collection[str]
) -> tuple[FieldError, ...]:
    """The errors at controls that somebody was at, or around them; controls go by their names."""
    pointers = {name[1:] for name in touched}
    return tuple(error for error in errors if _is_touched(_pointer(value, error.path), pointers))


def _is_touched(pointer: str, touched: Collection[str]) -> bool:
    return any(other == pointer or other.startswith(f"{pointer}/") for other in touched)


def _pointer(value: Any, path: str) -> str:
    """Where the control of a path stands. Rows go by keys of their own, not by their number."""
    pointer, part = "", value
    for step in path.split(".") if path else ():
        name = step
        if isinstance(part, ListRows) and step.isdigit():
            at = int(step) - (len(part) - len(part.keys))
            name = part.keys[at] if 0 <= at < len(part.keys) else step
        pointer += f"/{escape_step(name)}"
        part = _inside(part, step)
    return pointer


def _inside(value: Any, step: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(step)
    if isinstance(value, list) and step.isdigit() and int(step) < len(value):
        return value[int(step)]
    return None
