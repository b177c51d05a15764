"""Icons: Lucide's, drawn into the page. A name that there is none of gives the plain one."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import htpy as h
from markupsafe import Markup

from handrail.doors.web.assets import STATIC

DEFAULT_ICON = "wrench"


def icon(name: str | None, label: str | None = None) -> Markup:
    """An icon; with a label it speaks for itself, without one it is only to look at."""
    return _svg(name if name in _nodes() else DEFAULT_ICON, label)


@cache
def _nodes() -> dict[str, list[tuple[str, dict[str, str]]]]:
    nodes: dict[str, Any] = json.loads((STATIC / "vendor/icons.json").read_text())
    return nodes


@cache
def _svg(name: str | None, label: str | None) -> Markup:
    spoken = {"aria-hidden": "true"} if label is None else {"role": "img", "aria-label": label}
    look = {"class": "icon", "width": "16", "height": "16", "viewBox": "0 0 24 24", "fill": "none"}
    line = {
        "stroke": "currentColor",
        "stroke-width": "2",
        "stroke-linecap": "round",
        "stroke-linejoin": "round",
    }
    shapes = [
        h.Element(kind)({key: str(value) for key, value in attributes.items() if key != "key"})
        for kind, attributes in _nodes()[name or DEFAULT_ICON]
    ]
    return Markup(str(h.svg({**look, **line, **spoken})[shapes]))
