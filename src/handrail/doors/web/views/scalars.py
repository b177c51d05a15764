"""Numbers as their reader writes them, and other scalars by their format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Any
from urllib.parse import urlsplit

import htpy as h

from handrail.core.present.block_content import as_number, is_number
from handrail.doors.web.views.context import ViewContext
from handrail.doors.web.views.text import muted, paragraph, render_markdown, visible_text

NUMBER_FORMATS = frozenset({"number", "integer", "percent", "currency", "duration"})
MINUS = "\u2212"
_THIN = "\u202f"
_DOT, _COMMA = (",", "."), (".", ",")
_BY_LANGUAGE = {
    **dict.fromkeys("da de el es hr id is it nl pt ro sl sr tr vi".split(), _COMMA),
    **dict.fromkeys("bg cs et fi fr hu lt lv nb nn no pl ru sk sv uk".split(), (_THIN, ",")),
    "de-ch": ("\u2019", "."),
}
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\Z", re.ASCII)
_GREAT, _SMALL = Decimal("1e21"), Decimal("1e-7")


def separators(language: str) -> tuple[str, str]:
    """The signs between thousands and before decimals; English ones where we do not know better."""
    tag = language.lower()
    return _BY_LANGUAGE.get(tag) or _BY_LANGUAGE.get(tag.partition("-")[0], _DOT)


def format_number(number: int | float, how: Mapping[str, Any], language: str = "en") -> str:
    """A number in words of its reader: separators, decimals, unit."""
    if how.get("format") == "duration":
        return _duration(number, language)
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    form, unit = how.get("format"), how.get("unit")
    if form == "percent":
        exact, unit = exact.scaleb(2), unit or "%"
    decimals = how.get("decimals", {"integer": 0, "currency": 2}.get(str(form)))
    text = _digits(exact, decimals, language)
    return f"{text}\u00a0{unit}" if unit else text


def _digits(exact: Decimal, decimals: int | None, language: str) -> str:
    if exact and not _SMALL < abs(exact) < _GREAT:
        return str(exact.normalize()).replace("E+", "E").replace("-", MINUS)
    if decimals is not None:
        with localcontext() as context:
            context.prec = 60
            exact = exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_EVEN)
    between, point = separators(language)
    whole, _, part = f"{abs(exact):f}".partition(".")
    if decimals is None:
        part = part.rstrip("0")
    grouped = f"{int(whole):,}".replace(",", between) if len(whole) > 4 or decimals is not None else whole
    sign = MINUS if exact < 0 else ""
    return sign + grouped + (point + part if part else "")


def _duration(seconds: int | float, language: str) -> str:
    """Seconds in the two largest units that say something."""
    length = abs(seconds)
    sign = MINUS if seconds < 0 else ""
    if length < 60 or length >= 1e15:
        return f"{sign}{format_number(round(length, 3) if length < 60 else length, {}, language)}\u00a0s"
    parts = []
    rest = round(length)
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{format_number(count, {}, language)}\u00a0{unit}")
    return sign + " ".join(parts[:2])


def render_scalar(value: Any, how: Mapping[str, Any], ctx: ViewContext) -> h.Node:
    """One scalar, by its format where it fits and as it is where not."""
    if value is None:
        return muted("none", ".view-none")
    if isinstance(value, bool):
        return "Yes" if value else "No"
    form = how.get("format")
    number = as_number(value) if form in NUMBER_FORMATS or (how and form is None) else value
    if is_number(number):
        return _render_number(number, how, ctx)
    if isinstance(value, str):
        return _render_text(value, form)
    return visible_text(str(value))


def _render_number(number: Any, how: Mapping[str, Any], ctx: ViewContext) -> h.Node:
    text = format_number(number, how, ctx.language)
    exact = str(number)
    return h.data(".view-number", value=exact, title=exact if text != exact else None)[text]


def _render_text(value: str, form: Any) -> h.Node:
    if not value:
        return muted("empty")
    if form == "code":
        return h.code(".view-code")[visible_text(value)]
    if form == "markdown":
        return render_markdown(value)
    if form in ("date", "datetime") and _DATE.match(value):
        return h.time(datetime=value)[value.replace("T", " ") if form == "datetime" else value]
    if form == "link" and is_web_url(value):
        return h.a(href=value, rel="noopener noreferrer nofollow", target="_blank")[visible_text(value)]
    return paragraph(value)


def is_web_url(text: str) -> bool:
    """Whether one may be sent there by a link: http or https, with a host, and nothing hidden in it."""
    if not text.isascii() or not text.isprintable() or " " in text:
        return False
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        return False
