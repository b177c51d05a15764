"""A browser's part in a form: which controls of a page it sends, and with which values.

As the HTML standard says: what is typed into a box of one line loses its line breaks, a calendar that cannot
hold a value is empty, ends of lines go out as two characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

_DAY = re.compile(r"\d{4,}-\d\d-\d\d\Z", re.A)
_CLOCK = re.compile(r"(\d\d:\d\d)(?::(\d\d)(\.\d{1,3})?)?\Z", re.A)


@dataclass
class Control:
    """One control, as it stands in the page."""

    tag: str
    attrs: dict[str, str | None]
    text: str = ""
    options: list[tuple[dict[str, str | None], str]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.attrs.get("name") or ""


class Page(HTMLParser):
    """A page: its controls, its ids, its texts."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.controls: list[Control] = []
        self.ids: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: Control | None = None
        self._in_option = False
        self.feed(markup.replace("\x00", "�").replace("\r\n", "\n").replace("\r", "\n"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        if found.get("id") is not None:
            self.ids.append(found["id"] or "")
        if tag in ("input", "textarea", "select", "button"):
            control = Control(tag, found)
            self.controls.append(control)
            self._open = None if tag == "input" else control
        elif tag == "option" and self._open is not None and self._open.tag == "select":
            self._open.options.append((found, ""))
            self._in_option = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "option":
            self._in_option = False
        elif self._open is not None and tag == self._open.tag:
            self._open = None

    def handle_data(self, data: str) -> None:
        if self._open is not None and self._open.tag == "textarea":
            self._open.text += data
        elif self._in_option and self._open is not None:
            attrs, words = self._open.options[-1]
            self._open.options[-1] = (attrs, words + data)
        else:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def control(self, name: str) -> Control:
        return next(one for one in self.controls if one.name == name)

    def buttons(self) -> list[str]:
        return [one.attrs.get("value") or "" for one in self.controls if one.tag == "button" and one.name]

    def sends(self, press: str | None = None) -> list[tuple[str, str]]:
        """What goes out when the form is sent, perhaps by pressing a button of it."""
        found = [(one.name, value) for one in self.controls if one.name for value in _values(one)]
        if press is not None:
            assert press in self.buttons(), (press, self.buttons())
            found.append(("_do", press))
        return [(name, _crlf(value)) for name, value in found]


def changed(sent: list[tuple[str, str]], name: str, value: str | None) -> list[tuple[str, str]]:
    """What goes out once somebody typed something else into a control, or unticked it."""
    rest = [(one, text) for one, text in sent if one != name]
    return rest if value is None else [*rest, (name, value)]


def _crlf(value: str) -> str:
    return re.sub(r"\r\n|\r|\n", "\r\n", value)


def _values(control: Control) -> Iterator[str]:
    if control.tag == "textarea":
        text = control.text
        yield text[1:] if text.startswith("\n") else text
    elif control.tag == "select":
        yield from _selected(control)
    elif control.tag == "input":
        yield from _input(control)


def _selected(control: Control) -> Iterator[str]:
    chosen = [attrs for attrs, _ in control.options if "selected" in attrs]
    options = chosen[-1:] or [attrs for attrs, _ in control.options][:1]
    for attrs in options:
        yield attrs["value"] or ""


def _input(control: Control) -> Iterator[str]:
    kind = control.attrs.get("type") or "text"
    value = control.attrs.get("value")
    if kind in ("checkbox", "radio"):
        if "checked" in control.attrs:
            yield "on" if value is None else value
    elif kind in ("hidden",):
        yield value or ""
    elif kind not in ("submit", "button", "file"):
        yield _held(kind, value or "")


def _held(kind: str, value: str) -> str:
    """The value as the control holds it."""
    value = value.replace("\n", "").replace("\r", "")
    if kind == "date":
        return value if _DAY.match(value) else ""
    if kind == "time":
        return value if _clock(value) else ""
    if kind == "datetime-local":
        day, _, clock = value.partition("T")
        held = _clock(clock)
        return f"{day}T{held}" if _DAY.match(day) and held else ""
    if kind in ("email", "url"):
        return value.strip()
    return value


def _clock(value: str) -> str:
    found = _CLOCK.match(value)
    if not found:
        return ""
    minutes, seconds, fraction = found.groups()
    fraction = (fraction or "").rstrip("0").rstrip(".")
    return minutes if (seconds or "00") == "00" and not fraction else f"{minutes}:{seconds}{fraction}"
