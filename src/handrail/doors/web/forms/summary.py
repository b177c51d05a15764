"""The summary over a form: how many things are wrong, and what belongs to no field."""

from __future__ import annotations

import htpy as h

from handrail.doors.web.forms.field import Field
from handrail.doors.web.forms.pen import Pen
from handrail.doors.web.forms.words import in_words


def summary(pen: Pen, root: Field) -> h.Node:
    """What is wrong, with a link to each field; nothing if nothing is."""
    loose = [in_words(error.path or root.label or "The input", error.reason) for error in pen.loose()]
    at_fields = [(id, sentence) for id, sentence in pen.found if id != pen.id]
    loose += [sentence for id, sentence in pen.found if id == pen.id]
    if not loose and len(at_fields) < 2:
        return None
    return h.div(".form-summary", role="alert", id=f"{pen.id}:summary")[
        h.h2[
            "Some answers need another look"
            if len(at_fields) + len(loose) > 1
            else "One answer needs another look"
        ],
        h.ul[
            [h.li[sentence] for sentence in loose],
            [h.li[h.a(href=f"#{id}")[sentence]] for id, sentence in at_fields],
        ],
    ]
