"""All widgets, registered."""

from handrail.doors.web.forms.widgets import (
    choice,
    date_time,
    lists,
    media,
    number,
    objects,
    picker,
    text,
    union,
)

__all__ = ["choice", "date_time", "lists", "media", "number", "objects", "picker", "text", "union"]
