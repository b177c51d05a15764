"""Days and times: a browser's own calendar where it gives a value back unchanged, else text.

Times stand beside their time zone. What a browser leaves out (`12:00` for `12:00:00`) is put back.
"""

from __future__ import annotations

import re
from datetime import date, time
from typing import Any, Literal

import htpy as h

from handrail.doors.web.forms.control_names import (
    SIDE,
    FieldLocation,
    has_unsafe_characters,
    normalize_newlines,
)
from handrail.doors.web.forms.defaults import render_empty
from handrail.doors.web.forms.fields import MISSING, FormField
from handrail.doors.web.forms.post import FormPost
from handrail.doors.web.forms.render import FieldWrapper, RenderContext, hidden_input, select_box
from handrail.doors.web.forms.widget_registry import WidgetTemplate
from handrail.doors.web.forms.widgets.text import LineWidget

Kind = Literal["date", "time", "date-time"]

_CLOCK = r"(\d\d:\d\d:\d\d(?:\.\d{0,2}[1-9])?)"
_ZONE = r"(Z|[+-]\d\d:\d\d|)"
_FORMS = {
    "date": re.compile(r"(\d{4}-\d\d-\d\d)()\Z", re.A),
    "time": re.compile(rf"{_CLOCK}{_ZONE}\Z", re.A),
    "date-time": re.compile(rf"(\d{{4}}-\d\d-\d\dT{_CLOCK}){_ZONE}\Z", re.A),
}
_TYPES = {"date": "date", "time": "time", "date-time": "datetime-local"}
_EXAMPLES = {"date": "2026-03-31", "time": "12:00:00", "date-time": "2026-03-31T12:00:00Z"}
_ENDS_SHORT = re.compile(r"(?:^|T)\d\d:\d\d\Z", re.A)
_OFFSETS = (
    *(f"-{hour:02}:00" for hour in range(12, 0, -1)),
    "-03:30",
    *(f"+{hour:02}:00" for hour in range(1, 15)),
    *("+03:30", "+04:30", "+05:30", "+05:45", "+06:30", "+09:30"),
)


def split_date_time(text: str, kind: Kind) -> tuple[str, str] | None:
    """A moment as a browser's control and a zone hold it, if they give it back as it is."""
    match = _FORMS[kind].match(text)
    if not match:
        return None
    local, zone = match[1], match[match.re.groups]
    day, _, clock = local.rpartition("T") if kind == "date-time" else (local, "", local)
    try:
        if kind != "time":
            date.fromisoformat(day)
        if kind != "date":
            time.fromisoformat(clock)
    except ValueError:
        return None
    return local, zone


class DateTimeWidget(LineWidget):
    """A day, a time of day, or both."""

    def __init__(self, kind: Kind) -> None:
        self._kind: Kind = kind

    def template(self, field: FormField, value: Any) -> WidgetTemplate | None:
        return WidgetTemplate("out", value) if value is MISSING else None

    def render(self, field: FormField, ctx: RenderContext, location: FieldLocation, value: Any) -> h.Node:
        wrapper = FieldWrapper(field, ctx, location)
        empty = render_empty(field, ctx, location, value, textual=True)
        text = value if isinstance(value, str) else ""
        split = split_date_time(text, self._kind) if text else ("", "Z" if self._kind == "date-time" else "")
        attrs = wrapper.attrs
        if split is None:
            shown = {**attrs, "placeholder": _EXAMPLES[self._kind], "value": text, "data-plain": True}
            plain = hidden_input(SIDE + location.pointer, "text")
            return wrapper.frame(h.input(".input", shown, type="text"), plain, empty)
        local, zone = split
        step = None if self._kind == "date" else "any" if "." in local else "1"
        box = h.input(".input", attrs, type=_TYPES[self._kind], value=local, step=step)
        if self._kind == "date":
            return wrapper.frame(box, empty)
        zone_attrs = {
            "data-zone": True if not text and self._kind == "date-time" else None,
            "name": SIDE + location.pointer,
            "aria-label": f"{field.label}: time zone",
        }
        zones = select_box(zone_attrs, [(name, _zone_label(name), name == zone) for name in _zones(zone)])
        return wrapper.frame(h.div(".form-moment")[box, zones], empty)

    def parse(self, text: str, post: FormPost, location: FieldLocation) -> str:
        text = normalize_newlines(text)
        side = post.text(SIDE + location.pointer)
        if self._kind == "date" or side is None or side == "text" or has_unsafe_characters(text):
            return text
        return (f"{text}:00" if _ENDS_SHORT.search(text) else text) + side


def _zones(now: str) -> list[str]:
    zones = ["Z", "", *_OFFSETS]
    return zones if now in zones else [now, *zones]


def _zone_label(zone: str) -> str:
    return "UTC" if zone == "Z" else f"UTC{zone}" if zone else "no zone"
