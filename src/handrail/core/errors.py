"""Errors, named after who must act.

    HandrailError
    ├── DefinitionError        the developer: a tool, rule or policy is written wrongly
    │   ├── DuplicateName      two tools claim one name
    │   └── PolicyError        a rule or policy does not load
    ├── UsageError             the developer: Handrail is called wrongly (closed, no loop, bad port)
    │   └── NoTenant           code ran outside any tenant scope
    ├── StorageError           whoever runs the system: the database is away, or has no room
    └── ToolError              the tool's author: a body says why it failed, with a code
        ├── RemoteError        the same, from a body in a process of its own
        └── UnknownOutcome     the body lost sight of its effect: nobody knows whether it happened

A call never raises these to its caller: the pipeline turns them into an `Outcome`.
The docstring of each class is its message when none is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite


class HandrailError(Exception):
    """Something in Handrail went wrong."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """Where a definition was written."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class DefinitionError(HandrailError):
    """A definition cannot be used as it is written."""

    def __init__(
        self,
        problem: str | None = None,
        *,
        tool: str | None = None,
        location: SourceLocation | None = None,
        remedy: str | None = None,
    ) -> None:
        self.problem = problem or (type(self).__doc__ or "").strip()
        self.tool = tool
        self.location = location
        self.remedy = remedy
        lines = [self.problem if tool is None else f"tool {tool!r}: {self.problem}"]
        if location is not None:
            lines.append(f"  defined at {location}")
        if remedy is not None:
            lines.append(f"  remedy: {remedy}")
        super().__init__("\n".join(lines))


@contextmanager
def located(tool: str, location: SourceLocation | None) -> Iterator[None]:
    """Say of what is wrong inside which tool it is about, and where that was written."""
    try:
        yield
    except DefinitionError as error:
        if error.tool is not None:
            raise
        raise DefinitionError(
            error.problem, tool=str(tool), location=location, remedy=error.remedy
        ) from error


class DuplicateName(DefinitionError):
    """Two tools claim the same name."""


class PolicyError(DefinitionError):
    """A policy rule cannot be loaded."""


class UsageError(HandrailError):
    """Handrail was used in a way it cannot serve."""


class StorageError(HandrailError):
    """The database cannot be reached or written, so nothing was changed. Try again later."""


class NoTenant(UsageError):
    """No tenant is known here. Run this inside a tool call, or wrap it in `with_tool_context`."""


class ToolError(HandrailError):
    """The tool failed."""

    def __init__(
        self, message: str | None = None, *, code: str = "TOOL_FAILED", retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.retry_after = retry_after
        """Seconds after which another attempt may help."""
        if retry_after is not None and (
            not isinstance(retry_after, (int, float)) or not isfinite(retry_after)
        ):
            raise UsageError(f"retry_after is a number of seconds, not {retry_after!r}.")


class RemoteError(ToolError):
    """The body failed in a process of its own."""

    def __init__(self, message: str, classes: Iterable[str]) -> None:
        super().__init__(message)
        self.classes = frozenset(classes)
        """The names of the exception's classes, which itself stayed there."""

    def is_a(self, kind: type[BaseException]) -> bool:
        return class_name(kind) in self.classes


class UnknownOutcome(ToolError):
    """Nobody knows whether it happened."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message, code="UNKNOWN_OUTCOME")


def class_name(kind: type) -> str:
    """A class as another process may know it."""
    return f"{kind.__module__}.{kind.__qualname__}"
