"""JSON as a person types it: read without losing anything, or with a sentence that says where it breaks."""

from __future__ import annotations

import json
import math
from typing import Any

from handrail.core.define.jsonvalue import is_too_deep
from handrail.doors.visible import exact


class NotJson(ValueError):
    """The text is not JSON for a form; the message says why, to whoever typed it."""


def json_text(value: Any) -> str:
    """A value as JSON in which every character can be seen; reading it gives the same value."""
    return exact(value, indent=2)


def read_object(text: str, *, blank: bool = True) -> dict[str, Any]:
    """The input that a text is. No text is no input, unless there must be one."""
    if blank and not text.strip():
        return {}
    found = read_value(text)
    if not isinstance(found, dict):
        raise NotJson("The input is an object: names and values between { and }.")
    return found


def read_value(text: str) -> Any:
    """The value that a text is, if it is one and can be had back as it was typed."""
    try:
        found = json.loads(text, parse_constant=_no_number, parse_float=_number, object_pairs_hook=_object)
        found_text = json.dumps(found, ensure_ascii=False)
        found_text.encode()
        if is_too_deep(found):
            raise NotJson("It is nested too deeply.")
    except NotJson:
        raise
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise NotJson(f"This is not JSON yet: {_reason(error)} at {where}.") from None
    except UnicodeEncodeError:
        raise NotJson("A text in it holds half a character (a lone surrogate).") from None
    except RecursionError:
        raise NotJson("It is nested too deeply.") from None
    except ValueError:
        raise NotJson("A number in it has too many digits.") from None
    return found


def _reason(error: json.JSONDecodeError) -> str:
    """Python's words for where it stopped, made into a part of a sentence."""
    return error.msg[:1].lower() + error.msg[1:]


def _no_number(name: str) -> Any:
    raise NotJson(f"{name} is not a number in JSON.")


def _number(text: str) -> float:
    found = float(text)
    if math.isinf(found):
        raise NotJson(f"The number {text[:40]} is too large.")
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise NotJson(f"The name {json.dumps(name, ensure_ascii=False)} stands there twice.")
        found[name] = value
    return found
