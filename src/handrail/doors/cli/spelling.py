"""Spelling: words of a command line read as arguments, and arguments written as such words."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from handrail.documents import DocumentError, parse_json
from handrail.doors.cli.exits import Stop
from handrail.doors.cli.flags import OWN, Flag, Flags, Reading, Values, kind_of


def read_arguments(words: Sequence[str], flags: Flags) -> dict[str, Any]:
    """The arguments that flags give."""
    given: dict[str, Any] = {}
    whole: set[str] = set()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, mark, text = _parts(word, flags)
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
    return given


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
    if name in OWN:
        raise Stop(f"--{name} is no option of this command", "leave it out")
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
