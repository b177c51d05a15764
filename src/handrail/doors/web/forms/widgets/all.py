"""All widgets, registered."""

from handrail.doors.web.forms.widgets import (
    choice,
    jsonbox,
    media,
    moment,
    number,
    objects,
    picker,
    rows,
    secret,
    text,
    truth,
    union,
)

__all__ = [
    "choice",
    "jsonbox",
    "media",
    "moment",
    "number",
    "objects",
    "picker",
    "rows",
    "secret",
    "text",
    "truth",
    "union",
]
