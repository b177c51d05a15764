"""The summary of an output: a few figures with their labels, large enough to be seen first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from htpy import Node, dd, div, dl, dt

from handrail.doors.web.views.figures import figure
from handrail.doors.web.views.look import Look
from handrail.doors.web.views.markdown import rendered
from handrail.doors.web.views.text import is_long, shown
from handrail.doors.web.views.values import laid_out


def draw_summary(content: Mapping[str, Any], look: Look, label: str) -> Node:
    """Figures, or a paragraph."""
    if "text" in content:
        return rendered(content["text"])
    return [
        dl(".view-figures")[(_figure(one, look, label) for one in content["figures"])],
        laid_out(content["more"], look.inside("more")) if content.get("more") else None,
    ]


def _figure(one: Mapping[str, Any], look: Look, label: str) -> Node:
    value = one["value"]
    wide = isinstance(value, str) and (len(value) > 40 or is_long(value))
    return div(class_=["view-figure", wide and "view-figure-wide"])[
        dt[shown(one["label"] or label)],
        dd[figure(value, one, look) if not isinstance(value, (list, Mapping)) else laid_out(value, look)],
    ]
