"""needs: says in words which package a bridge lacks, and the extra that brings it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from handrail.ext.errors import UsageError


class MissingPackage(UsageError, ImportError):
    """A package is not installed that this part of Handrail needs."""


@contextmanager
def require_extra(extra: str, what: str) -> Iterator[None]:
    """Around the imports of a bridge: what cannot be imported is told with the command that installs it."""
    try:
        yield
    except ImportError as error:
        missing = (error.name or "a package").partition(".")[0]
        raise MissingPackage(
            f"{missing} is not installed, which {what} needs: pip install 'handrail[{extra}]'"
        ) from error
