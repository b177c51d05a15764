"""What is wrong with a field, in words for the person who filled it in."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from handrail.core.define.call import FieldError, Outcome

_GOT = re.compile(r",? got (?P<value>.*) \((?P<kind>[^()]*)\)$", re.S)
_KIND = {"array": "a list", "object": "an object", "string": "text", "number": "a number", "null": "empty"}
_KIND |= {"integer": "a whole number", "boolean": "yes or no"}
_Match = re.Match[str]

_SENTENCES: list[tuple[re.Pattern[str], Callable[[_Match], str]]] = [
    (re.compile(p, re.S), say)
    for p, say in [
        (r"is required$", lambda m: "is required"),
        (r"should be a valid (?:number|decimal).*", lambda m: "must be a number"),
        (r"should be a valid integer.*", lambda m: "must be a whole number"),
        (r"should be a valid string.*", lambda m: "must be text"),
        (r"should be a valid boolean.*", lambda m: "must be yes or no"),
        (r"should be a valid (?:list|array|tuple|set).*", lambda m: "must be a list"),
        (r"should be a valid (?:dictionary|object).*", lambda m: "must be an object"),
        (r"should be a valid date\b.*", lambda m: f"must be {_format('date')}"),
        (r"should be a valid datetime.*", lambda m: f"must be {_format('date-time')}"),
        (
            r"should be in a valid time format.*|should be a valid time.*",
            lambda m: f"must be {_format('time')}",
        ),
        (r"should be a valid URL.*|uRL input should be.*", lambda m: f"must be {_format('uri')}"),
        (r"value is not a valid email address.*", lambda m: f"must be {_format('email')}"),
        (r"decimal input should be.*", lambda m: "must be a number"),
        (
            r"(?:list|set|tuple) should have at least (\d+) item.*",
            lambda m: f"needs at least {_plural(m[1], 'entry')}",
        ),
        (
            r"(?:list|set|tuple) should have at most (\d+) item.*",
            lambda m: f"takes at most {_plural(m[1], 'entry')}",
        ),
        (r"(.*) was expected", lambda m: f"must be {m[1]}"),
        (r"should be greater than or equal to (.*)", lambda m: f"must be {m[1]} or more"),
        (r"should be less than or equal to (.*)", lambda m: f"must be {m[1]} or less"),
        (r"should be greater than (.*)", lambda m: f"must be more than {m[1]}"),
        (r"should be less than (.*)", lambda m: f"must be less than {m[1]}"),
        (r".* is less than the minimum of (.*)", lambda m: f"must be {m[1]} or more"),
        (r".* is greater than the maximum of (.*)", lambda m: f"must be {m[1]} or less"),
        (r".* is less than or equal to the minimum of (.*)", lambda m: f"must be more than {m[1]}"),
        (r".* is greater than or equal to the maximum of (.*)", lambda m: f"must be less than {m[1]}"),
        (r".* is not a multiple of (.*)", lambda m: f"must be a multiple of {m[1]}"),
        (
            r".* is shorter than (\d+) characters?",
            lambda m: f"must have at least {_plural(m[1], 'character')}",
        ),
        (r".* is longer than (\d+) characters?", lambda m: f"must have at most {_plural(m[1], 'character')}"),
        (r"string should have (at (?:least|most) \d+ characters?).*", lambda m: f"must have {m[1]}"),
        (r".* has (?:less|fewer) than (\d+) items?", lambda m: f"needs at least {_plural(m[1], 'entry')}"),
        (r".* has more than (\d+) items?", lambda m: f"takes at most {_plural(m[1], 'entry')}"),
        (r".* has non-unique elements", lambda m: "must not hold the same entry twice"),
        (r".* does not match \"?(.*?)\"?", lambda m: f"must look like {m[1]}"),
        (r"string should match pattern '(.*)'", lambda m: f"must look like {m[1]}"),
        (r".* is not an? \"(.*)\"", lambda m: f"must be {_format(m[1])}"),
        (r"should be (.*)", lambda m: f"must be {_kinds(m[1])}"),
    ]
]


def _plural(count: str, noun: str) -> str:
    plural = "entries" if noun == "entry" else f"{noun}s"
    return f"{count} {noun if count == '1' else plural}"


def _format(name: str) -> str:
    return {
        "date": "a date such as 2026-03-31",
        "date-time": "a date and time such as 2026-03-31T12:00:00Z",
        "time": "a time such as 12:00:00Z",
        "email": "an e-mail address",
        "uri": "an address such as https://example.com",
    }.get(name, f"a valid {name}")


def _kinds(text: str) -> str:
    return " or ".join(_KIND.get(part, part) for part in text.split(" or "))


def error_sentence(label: str, reason: str) -> str:
    """One sentence, or two, that name the field and the reason."""
    said = list(dict.fromkeys(_plain_reason(part) for part in reason.split("; or ")))
    musts = [part.removeprefix("must be ") for part in said if part.startswith("must be ")]
    bare = f"must be {' or '.join(musts)}" if len(musts) == len(said) else "; or ".join(said)
    if not bare.endswith((".", "?")):
        bare += "."
    return f"{label} {bare}" if _continues_label(bare) else f"{label}: {bare}"


def _plain_reason(reason: str) -> str:
    """A reason without what was got, which the person sees in the box."""
    got = _GOT.search(reason)
    bare = reason[: got.start()] if got else reason
    for pattern, say in _SENTENCES:
        found = pattern.fullmatch(bare)
        if found:
            return say(found)
    return bare


def _continues_label(reason: str) -> bool:
    return reason.startswith(
        ("must ", "is ", "needs ", "takes ", "should ", "does ", "cannot ", "has ", "holds ")
    )


def number_error(text: str, whole: bool = False) -> str:
    """Why typed text is no number, with the number that may be meant."""
    kind = "a whole number" if whole else "a number"
    meant = _likely_number(text)
    shown = text if len(text) <= 60 else f"{text[:60]}…"
    return f"must be {kind}. You typed {shown}{f'; try {meant}' if meant else ''}."


_SCALES = {"": 1, "k": 1_000, "m": 1_000_000, "mio": 1_000_000, "bn": 1_000_000_000, "%": 1}
_LOOSE_NUMBER = re.compile(r"[^\d\-+]*([+-]?[\d.,' _  ]*\d)\s*([a-z%]*)[^\d]*", re.I | re.A)


def _likely_number(text: str) -> str | None:
    found = _LOOSE_NUMBER.fullmatch(text.strip())
    scale = _SCALES.get(found[2].lower()) if found else None
    if not found or scale is None:
        return None
    digits = re.sub(r"[' _  ]", "", found[1])
    commas, dots = digits.count(","), digits.count(".")
    if commas and dots:
        decimal = max(digits.rfind(","), digits.rfind("."))
        digits = re.sub(r"[.,]", "", digits[:decimal]) + "." + digits[decimal + 1 :]
    elif commas == 1 and not re.search(r",\d{3}$", digits):
        digits = digits.replace(",", ".")
    elif commas or dots > 1:
        digits = re.sub(r"[.,]", "", digits)
    try:
        number = float(digits) * scale
    except ValueError:
        return None
    return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)


def outcome_field_errors(outcome: Outcome) -> list[FieldError]:
    """What was wrong with which field; nothing where the call succeeded, or tells of no field."""
    told = None if outcome.ok else outcome.result.metadata.get("fields")
    if isinstance(told, Mapping):
        return [FieldError(str(path), str(reason)) for path, reason in told.items()]
    if not isinstance(told, list | tuple):
        return []
    return [
        FieldError(str(one.get("path", "")), str(one.get("reason", "")))
        for one in told
        if isinstance(one, Mapping)
    ]
