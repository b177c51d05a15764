"""Child processes of this process. What a test starts ends with it, whatever else lives on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psutil


@contextmanager
def no_leftover_processes() -> Iterator[None]:
    """Whatever happens in here leaves no process behind, not even a zombie."""
    before = set(psutil.Process().children())
    yield
    left = set(psutil.Process().children()) - before
    assert not left, f"left behind: {left}"
