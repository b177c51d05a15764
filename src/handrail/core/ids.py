"""Ids: unique over processes and forks, cheap to make, in the order they were made."""

from __future__ import annotations

import itertools
import os
import secrets

_prefix = ""
_next = itertools.count().__next__


def _begin() -> None:
    global _prefix, _next
    _prefix = f"_{secrets.token_hex(6)}_"
    _next = itertools.count(1).__next__


_begin()
if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_begin)


def new_id(kind: str) -> str:
    """A new id such as `call_5f0c2a9d41b7_26`."""
    return f"{kind}{_prefix}{_next()}"
