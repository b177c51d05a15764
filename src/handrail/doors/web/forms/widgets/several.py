"""Several texts in one field: what files and picked things have in common."""

from __future__ import annotations

from typing import Any

import htpy as h

from handrail.doors.web.forms.field import MISSING, Blank, ListField
from handrail.doors.web.forms.pen import Pen
from handrail.doors.web.forms.place import Place
from handrail.doors.web.forms.wire import one_line


def fits_texts(value: Any) -> bool:
    """Whether a value is a list of texts that each stand on one line, or none at all."""
    if value is MISSING or value is None or isinstance(value, Blank):
        return True
    return isinstance(value, list) and all(isinstance(one, str) and one and one_line(one) for one in value)


def state_of(value: Any) -> str:
    """Left out, null or there: what a hidden field says of a list."""
    return "out" if value is MISSING else "null" if value is None else "here"


def wrong_below(field: ListField, pen: Pen, place: Place) -> list[h.Element]:
    """What is wrong with single entries."""
    return [h.p(".form-error")[f"{field.label} {error.reason}"] for error in pen.below(place)]
