"""limits_here: how much runs at once, as the environment says. All workers of a database say the same."""

from __future__ import annotations

import os
import re

from handrail.core.errors import UsageError
from handrail.core.run.jobs import Limits

PER_TENANT = "HANDRAIL_PER_TENANT"
RATE = "HANDRAIL_RATE"
_FEW = "4"
"""Of one tenant, unless somebody wants more: so that others get their turn."""


def limits_here() -> Limits:
    """The limits for this process."""
    return Limits(per_tenant=_per_tenant(os.environ.get(PER_TENANT, _FEW)), rate=_rate(os.environ.get(RATE)))


def _per_tenant(given: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,5}", given, re.ASCII):
        raise UsageError(f"{PER_TENANT} is a whole number from 1 on, not {given!r}.")
    return int(given)


def _rate(given: str | None) -> tuple[int, float] | None:
    if not given:
        return None
    found = re.fullmatch(r"([1-9][0-9]{0,8})/([1-9][0-9]{0,8})", given, re.ASCII)
    if found is None:
        raise UsageError(
            f"{RATE} is how many jobs of one tenant begin in how many seconds, such as 100/60, not {given!r}."
        )
    return int(found[1]), float(found[2])
