"""Refusals: why a call did not run, in words that whoever asked can act on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from handrail.core.define.call import FieldError, Status
from handrail.core.define.decision import Decision
from handrail.core.define.levels import SOURCES
from handrail.core.define.result import Result
from handrail.core.define.tool import Tool
from handrail.core.errors import StorageError


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call that ends here."""

    result: Result
    layer: str
    rule: str | None = None
    decision: Decision | None = None
    status: Status = "refused"


def broken(code: str, summary: str, error: str, layer: str, **metadata: object) -> Refusal:
    return Refusal(Result(False, None, summary, error=error, code=code, metadata=metadata), layer)


def not_found(name: str, similar: Sequence[str] = ()) -> Refusal:
    hint = f" Did you mean: {', '.join(similar)}?" if similar else " List the tools to see which there are."
    return broken("TOOL_NOT_FOUND", f"Tool not found: {name}", f"There is no tool {name!r}.{hint}", "find")


def denied(decision: Decision, tool: Tool) -> Refusal:
    code = decision.code or "NOT_PERMITTED"
    result = Result(False, None, f"Tool not permitted: {tool.id}", error=decision.reason, code=code)
    return Refusal(result, decision.layer, decision.rule, decision)


def stale(tool: Tool) -> Refusal:
    return broken(
        "STALE_TOOL",
        f"{tool.name} has changed",
        f"The definition of {tool.id} changed since you saw it. Read it again, then call it again.",
        "find",
        digest=tool.digest,
    )


def invalid(tool: Tool, errors: Sequence[FieldError]) -> Refusal:
    """What is wrong with the arguments. Whoever calls a foreign tool may know no more of it than its name."""
    code, summary, what = "INVALID_PARAM", f"Invalid arguments for {tool.name}", f"{tool.id} was not called"
    if missing := [error.path for error in errors if error.missing]:
        word = "param" if len(missing) == 1 else "params"
        code, summary = "MISSING_PARAM", f"Missing required {word}: {', '.join(missing)}"
        what = summary
    data = {"parameters": tool.input_schema} if tool.origin == "mcp" else None
    fields = [{"path": error.path, "reason": error.reason} for error in errors]
    text = f"{what}. {'; '.join(map(str, errors))}"
    return Refusal(
        Result(False, data, summary, error=text, code=code, metadata={"fields": fields}), "validate"
    )


def held_back(tool_id: str, why: str, code: str = "TOOL_UNAVAILABLE") -> Refusal:
    """Its source does not give it now, and says why."""
    return broken(code, f"Tool not available: {tool_id}", why, "find")


def busy(key: str, holder: str) -> Refusal:
    return broken(
        "RESOURCE_BUSY",
        f"{key} is in use",
        f"{holder} is changing {key} right now. Wait until it is done, or work on something else.",
        "claim",
        holder=holder,
        resource=key,
    )


def held_up(tool: Tool) -> Refusal:
    return broken(
        "RESOURCE_BUSY",
        f"{tool.id} was not run",
        f"An earlier call of this batch was told to stop and did not: it may still change what {tool.id} "
        "touches. Call it again later.",
        "claim",
    )


def key_reused(key: str) -> Refusal:
    return broken(
        "KEY_REUSED",
        "The idempotency key was used for another call",
        f"The idempotency key {key!r} belongs to a call with another tool or other arguments. Use a new key.",
        "duplicate",
    )


def unknown_outcome(what: str) -> Refusal:
    result = Result(
        False,
        None,
        "Nobody knows whether it happened; a person must look",
        error=f"{what} It may or may not have had its effect, and it was not run again. A person must check.",
        code="UNKNOWN_OUTCOME",
    )
    return Refusal(result, "duplicate", status="needs_review")


def unknown_source(source: str) -> Refusal:
    why = f"{source!r} is not a source of calls. Use one of: {', '.join(SOURCES)}."
    return broken("NOT_PERMITTED", "Unknown source", why, "visibility")


def internal(tool: str, error: Exception) -> Refusal:
    if isinstance(error, StorageError):
        return no_log()
    why = f"Something inside Handrail failed while it served {tool} ({type(error).__name__})."
    return broken("INTERNAL_ERROR", "Something went wrong", f"{why} Tell whoever runs this system.", "error")


def bad_names() -> Refusal:
    why = "The call's id and its session are text. Give them as text, or leave them out."
    return broken("INVALID_PARAM", "The id or session of the call is not text", why, "find")


def id_in_use() -> Refusal:
    why = "Another call with this id is running or planned. Give each call an id of its own, or none."
    return broken("CALL_ID_IN_USE", "The call id is in use", why, "find")


def no_log() -> Refusal:
    why = "The event log cannot be written, so nothing was run. Try again, or tell whoever runs this system."
    return broken("LOG_UNAVAILABLE", "Not run", why, "log")


def taken_over(tool: str, key: str | None) -> Refusal:
    why = (
        f"{tool} was not run: its process was silent for so long that another one took the key {key!r}. "
        "Call it again with the same key to learn what became of it."
    )
    return broken("INTERRUPTED", "Not run", why, "key")
