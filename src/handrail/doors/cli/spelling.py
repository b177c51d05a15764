"""Spelling: words of a command line read as arguments, and arguments written as such words."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from handrail.documents import DocumentError, parse_json
from handrail.doors.cli.exits import Stop
from handrail.doors.cli.flags import OWN, OWN_SWITCHES, OWN_VALUED, Flag, Flags, Reading
from handrail.doors.cli.kinds import Values, kind_of

Own = dict[str, list[str]]
"""Options of the command itself, each with what was written after it; a switch with an empty text."""


def read_words(words: Sequence[str], flags: Flags) -> tuple[dict[str, Any], Own]:
    """The arguments that flags give, and the options of the command that stand among them."""
    given: dict[str, Any] = {}
    whole: set[str] = set()
    own: Own = {}
    rest = list(words)
    while rest:
        name, mark, text = _parts(rest.pop(0), flags)
        if name in OWN:
            own.setdefault(name, []).append(_own(name, mark, text, rest))
            continue
        flag, negative = _find(name, flags)
        if negative or (flag.reading == "switch" and not mark):
            if mark:
                raise Stop(f"--{name} takes no value", f"write --{flag.name}={text}")
            value: Any = not negative
        elif mark == ":=":
            value = _json(text, f"--{name}")
        else:
            value = read_text(flag, text if mark else _value(name, rest, flags), f"--{name}")
        if flag.reading == "many" and mark != ":=" and flag.param not in whole:
            given.setdefault(flag.param, []).append(value)
        elif flag.param in given:
            raise Stop(f"--{flag.name} is given twice", "keep one of them")
        else:
            given[flag.param] = value
            whole.add(flag.param)
    return given, own


def look_ahead(words: Sequence[str]) -> Own:
    """The options of the command that can be told before the tool is known.

    Which flags take a value is not known yet. So an option right after a flag may be its value, written
    by somebody else, and is left alone: a value must never name a module to be imported.
    """
    own: Own = {}
    rest = list(words)
    open_flag = False
    while rest:
        word = rest.pop(0)
        name, equals, text = word[2:].partition("=")
        known = word.startswith("--") and name in OWN
        if known and not open_flag:
            if name in OWN_VALUED and not equals:
                text = rest.pop(0) if rest else ""
            own.setdefault(name, []).append(text)
        else:
            # Also where it stands for a value, a switch of ours has none after it.
            is_switch = known and name in OWN_SWITCHES
            open_flag = word.startswith("--") and not equals and not is_switch
    return own


def _own(name: str, mark: str, text: str, rest: list[str]) -> str:
    if name in OWN_SWITCHES:
        if mark:
            raise Stop(f"--{name} takes no value", f"write --{name}")
        return ""
    if mark == ":=":
        raise Stop(f"--{name} is no flag of the tool", f"write --{name}={text}; a flag may be --arg-{name}")
    if not mark and not rest:
        raise Stop(f"--{name} wants a value", f"write --{name} VALUE")
    return text if mark else rest.pop(0)


def _parts(word: str, flags: Flags) -> tuple[str, str, str]:
    """Name, mark (`=`, `:=` or nothing) and text of a flag."""
    if not word.startswith("--") or len(word) < 3:
        example = next((flag for flag in flags if flag.required), next(iter(flags), None))
        hint = f"such as --{example.name}" if example else "but this tool has none"
        raise Stop(f"{word!r} stands alone", f"every value follows a flag, {hint}")
    name, equals, text = word[2:].partition("=")
    if equals and name.endswith(":"):
        return name[:-1], ":=", text
    return name, equals, text


def _find(name: str, flags: Flags) -> tuple[Flag, bool]:
    found = flags.by_name.get(name)
    if found is not None:
        return found
    near = difflib.get_close_matches(name, [*flags.by_name, *OWN], 1, 0.5)
    names = ", ".join(f"--{flag.name}" for flag in flags) or "none"
    raise Stop(f"--{name} is no flag here", f"did you mean --{near[0]}?" if near else f"there are: {names}")


def _value(name: str, rest: list[str], flags: Flags) -> str:
    """The next word as the value of a flag; another flag is none, so that a forgotten value is noticed."""
    if not rest:
        raise Stop(f"--{name} wants a value", f"write --{name} VALUE, or --{name}:=JSON")
    following = rest[0][2:].partition("=")[0].removesuffix(":") if rest[0].startswith("--") else ""
    if following in flags.by_name or following in OWN:
        raise Stop(f"--{name} wants a value", f"if you mean the text {rest[0]!r}, write --{name}={rest[0]}")
    return rest.pop(0)


def read_text(flag: Flag, text: str, where: str) -> Any:
    """The value that a text stands for, by the flag's way of reading."""
    if flag.reading == "json":
        return _json(text, where)
    return _scalar(flag.reading, flag.values, text)


def _scalar(reading: Reading, values: Values, text: str) -> Any:
    """A single value. What fits no kind stays text: the guard repairs it, or says what is wrong."""
    if values.choices is not None:
        if text in [one for one in values.choices if isinstance(one, str)]:
            return text
        parsed = _parsed(text)
        if any(_same(parsed, one) for one in values.choices):
            return parsed
        return text
    if reading == "text" or "string" in values.kinds:
        return text
    parsed = _parsed(text)
    return parsed if parsed is not _UNREAD and kind_of(parsed) in values.kinds else text


_UNREAD = object()


def _parsed(text: str) -> Any:
    """A JSON number, boolean or null; anything else is left alone."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _UNREAD
    if isinstance(value, (list, dict, str)) or (isinstance(value, float) and not math.isfinite(value)):
        return _UNREAD
    return value


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: 1 is neither true nor 1.0, since each is written in its own way."""
    return type(one) is type(other) and bool(one == other)


def _json(text: str, where: str) -> Any:
    try:
        return parse_json(text, where)
    except DocumentError as error:
        remedy = error.remedy
        if not text[:1] or text[0] not in '{["-0123456789':
            remedy = f"it takes JSON; text is written in double quotes: '\"{text}\"'"
        raise Stop(error.problem, remedy) from None


def write_arguments(args: Mapping[str, Any], flags: Flags) -> list[str]:
    """The words that give these arguments; what has no flag goes into `--args`."""
    by_param = {flag.param: flag for flag in flags}
    rest = {name: value for name, value in args.items() if name not in by_param}
    words = [f"--args={_dumped(rest)}"] if rest else []
    for name, value in args.items():
        if name in by_param:
            words += _written(by_param[name], value)
    return words


def _written(flag: Flag, value: Any) -> Iterator[str]:
    if flag.reading == "switch" and isinstance(value, bool) and (value or flag.negative):
        yield f"--{flag.name}" if value else f"--{flag.negative}"
        return
    several = value if flag.reading == "many" and isinstance(value, list) else [value]
    plain = [_plainly(flag, one) for one in several]
    if not several or None in plain or (flag.reading == "many" and not isinstance(value, list)):
        yield f"--{flag.name}:={_dumped(value)}"
        return
    yield from (f"--{flag.name}={text}" for text in plain)


def _plainly(flag: Flag, value: Any) -> str | None:
    """The text that is read as this value, or None when only JSON will do."""
    if flag.reading == "json":
        return _dumped(value)
    text = value if isinstance(value, str) else _dumped(value)
    back = _scalar(flag.reading, flag.values, text)
    return text if _dumped(back) == _dumped(value) else None


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
