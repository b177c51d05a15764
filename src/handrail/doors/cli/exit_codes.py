"""Exit codes: what a command tells the shell, and the error that ends it with one."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from handrail.core.define.call import Outcome
    from handrail.core.errors import HandrailError


class ExitCode(IntEnum):
    """How a command ended; the value is the exit code."""

    meaning: str

    def __new__(cls, value: int, meaning: str) -> ExitCode:
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    DONE = 0, "done"
    FAILED = 1, "failed"
    USAGE = 2, "used wrongly"
    REFUSED = 3, "refused"
    WAITING = 4, "needs a person"
    REJECTED = 5, "rejected by a person"
    UNCLEAR = 6, "nobody knows whether it happened"
    CANCELLED = 130, "cancelled"
    UNREAD = 141, "nobody read the output"


_BY_STATUS = {
    "failed": ExitCode.FAILED,
    "pending": ExitCode.WAITING,
    "queued": ExitCode.WAITING,
    "cancelled": ExitCode.CANCELLED,
    "needs_review": ExitCode.UNCLEAR,
}
_BY_CODE = {"MISSING_PARAM": ExitCode.USAGE, "INVALID_PARAM": ExitCode.USAGE, "REJECTED": ExitCode.REJECTED}


def exit_code_of(outcome: Outcome) -> ExitCode:
    """The exit code of a call."""
    if outcome.ok:
        return ExitCode.DONE
    if outcome.status == "refused":
        return _BY_CODE.get(outcome.code or "", ExitCode.REFUSED)
    return _BY_STATUS.get(outcome.status, ExitCode.FAILED)


class CommandError(Exception):
    """A command cannot go on: what is wrong, and what to do about it."""

    def __init__(self, problem: str, remedy: str | None = None, code: ExitCode = ExitCode.USAGE) -> None:
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy
        self.code = code

    @classmethod
    def of(cls, error: HandrailError) -> CommandError:
        """What an error of the library tells its developer, with the place and the remedy it names."""
        tool, location = getattr(error, "tool", None), getattr(error, "location", None)
        problem = getattr(error, "problem", str(error))
        named = f"tool {tool!r}: {problem}" if tool else problem
        return cls(f"{named} ({location})" if location else named, getattr(error, "remedy", None))


def not_found(problem: str, listing: str) -> CommandError:
    """A command names something that does not exist; `listing` is the command that shows what there is."""
    return CommandError(problem, f"see which there are: {listing}", ExitCode.REFUSED)
