"""Spans of time as people write them: 30d, 12h, 10m, 45s."""

from __future__ import annotations

import re

from handrail.doors.cli.exits import Stop

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_SPAN = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)([smhdw])\Z", re.ASCII)


def seconds_of(text: str, option: str) -> float:
    """The seconds that a span means, or a stop that says how to write one."""
    found = _SPAN.match(text.strip())
    if found is None or float(found[1]) == 0:
        raise Stop(f"{option} {text!r} is no span of time", "write 45s, 10m, 12h, 30d or 2w")
    return float(found[1]) * _UNITS[found[2]]
