"""needs: says which package a web tool lacks, and the command that brings it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from handrail.ext import ToolError


@contextmanager
def needs() -> Iterator[None]:
    """Around the imports of the packages that only the web tools need."""
    try:
        yield
    except ImportError as error:
        missing = (error.name or "a package").partition(".")[0]
        raise ToolError(
            f"{missing} is not installed, which this tool needs: pip install 'handrail[workspace]'",
            code="NOT_INSTALLED",
        ) from error
