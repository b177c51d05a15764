"""What is wrong with a field, in words for the person who filled it in."""

from __future__ import annotations

import re
from collections.abc import Mapping

from handrail.core.define.call import FieldError, Outcome

_GOT = re.compile(r",? got (?P<value>.*) \((?P<kind>[^()]*)\)$", re.S)
_KIND = {"array": "a list", "object": "an object", "string": "text", "number": "a number", "null": "empty"}
_KIND |= {"integer": "a whole number", "boolean": "yes or no"}
_FORMATS = {
    "date": "a date such as 2026-03-31",
    "date-time": "a date and time such as 2026-03-31T12:00:00Z",
    "time": "a time such as 12:00:00Z",
    "email": "an e-mail address",
    "uri": "an address such as https://example.com",
}
_SENTENCES = {
    r"is required$": "is required",
    r"should be a valid (?:number|decimal).*": "must be a number",
    r"should be a valid integer.*": "must be a whole number",
    r"should be a valid string.*": "must be text",
    r"should be a valid boolean.*": "must be yes or no",
    r"should be a valid (?:list|array|tuple|set).*": "must be a list",
    r"should be a valid (?:dictionary|object).*": "must be an object",
    r"should be a valid date\b.*": f"must be {_FORMATS['date']}",
    r"should be a valid datetime.*": f"must be {_FORMATS['date-time']}",
    r"should be in a valid time format.*|should be a valid time.*": f"must be {_FORMATS['time']}",
    r"should be a valid URL.*|uRL input should be.*": f"must be {_FORMATS['uri']}",
    r"value is not a valid email address.*": f"must be {_FORMATS['email']}",
    r"decimal input should be.*": "must be a number",
    r"(?:list|set|tuple) should have at least (\d+) item.*": "needs at least {entries}",
    r"(?:list|set|tuple) should have at most (\d+) item.*": "takes at most {entries}",
    r"(.*) was expected": "must be {0}",
    r"should be greater than or equal to (.*)": "must be {0} or more",
    r"should be less than or equal to (.*)": "must be {0} or less",
    r"should be greater than (.*)": "must be more than {0}",
    r"should be less than (.*)": "must be less than {0}",
    r".* is less than the minimum of (.*)": "must be {0} or more",
    r".* is greater than the maximum of (.*)": "must be {0} or less",
    r".* is less than or equal to the minimum of (.*)": "must be more than {0}",
    r".* is greater than or equal to the maximum of (.*)": "must be less than {0}",
    r".* is not a multiple of (.*)": "must be a multiple of {0}",
    r".* is shorter than (\d+) characters?": "must have at least {characters}",
    r".* is longer than (\d+) characters?": "must have at most {characters}",
    r"string should have (at (?:least|most) \d+ characters?).*": "must have {0}",
    r".* has (?:less|fewer) than (\d+) items?": "needs at least {entries}",
    r".* has more than (\d+) items?": "takes at most {entries}",
    r".* has non-unique elements": "must not hold the same entry twice",
    r".* does not match \"?(.*?)\"?": "must look like {0}",
    r"string should match pattern '(.*)'": "must look like {0}",
    r".* is not an? \"(.*)\"": "must be {format}",
    r"should be (.*)": "must be {kinds}",
}
"""What the validators say, and how it is said to a person; the first that matches counts."""
_PATTERNS = [(re.compile(pattern, re.S), template) for pattern, template in _SENTENCES.items()]


def _filled(template: str, value: str) -> str:
    return template.format(
        value,
        entries=f"{value} {'entry' if value == '1' else 'entries'}",
        characters=f"{value} {'character' if value == '1' else 'characters'}",
        format=_FORMATS.get(value, f"a valid {value}"),
        kinds=" or ".join(_KIND.get(part, part) for part in value.split(" or ")),
    )


def error_sentence(label: str, reason: str) -> str:
    """One sentence, or two, that name the field and the reason."""
    reasons = list(dict.fromkeys(_plain_reason(part) for part in reason.split("; or ")))
    musts = [part.removeprefix("must be ") for part in reasons if part.startswith("must be ")]
    bare = f"must be {' or '.join(musts)}" if len(musts) == len(reasons) else "; or ".join(reasons)
    if not bare.endswith((".", "?")):
        bare += "."
    return f"{label} {bare}" if _continues_label(bare) else f"{label}: {bare}"


def _plain_reason(reason: str) -> str:
    """A reason without what was got, which the person sees in the box."""
    got = _GOT.search(reason)
    bare = reason[: got.start()] if got else reason
    for pattern, template in _PATTERNS:
        if match := pattern.fullmatch(bare):
            return _filled(template, match[1] if pattern.groups else "")
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
    match = _LOOSE_NUMBER.fullmatch(text.strip())
    scale = _SCALES.get(match[2].lower()) if match else None
    if not match or scale is None:
        return None
    digits = re.sub(r"[' _  ]", "", match[1])
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
    fields = None if outcome.ok else outcome.result.metadata.get("fields")
    if isinstance(fields, Mapping):
        return [FieldError(str(path), str(reason)) for path, reason in fields.items()]
    return [
        FieldError(str(error.get("path", "")), str(error.get("reason", "")))
        for error in (fields if isinstance(fields, list | tuple) else ())
        if isinstance(error, Mapping)
    ]
