"""Endings: how a call ended that did not succeed, in the words of whoever reads."""

from __future__ import annotations

from typing import NamedTuple

from handrail.core.tell.events import ToolCancelled, ToolFailed
from handrail.core.tell.runs import UNKNOWN
from handrail.doors.web.story.texts import sentence
from handrail.doors.web.story.voice import Voice
from handrail.doors.web.words import span


class Ending(NamedTuple):
    """A sentence and how it looks."""

    said: str
    icon: str
    tone: str


_REFUSED = {
    "TOOL_NOT_FOUND": ("There was no such tool", "ban"),
    "NOT_PERMITTED": ("It was not allowed", "ban"),
    "MISSING_PARAM": ("Something was missing", "ban"),
    "INVALID_PARAM": ("The arguments did not fit", "ban"),
    "STALE_TOOL": ("The tool had changed since the caller saw it", "ban"),
    "TOOL_CHANGED": ("The tool had changed since it was asked for", "ban"),
    "APPROVAL_EXPIRED": ("Nobody answered in time", "timer-off"),
    "NOT_APPROVED": ("It was not approved", "ban"),
    "RESOURCE_BUSY": ("Somebody else was changing the same thing", "lock"),
    "SECRET_MISSING": ("A secret that it needs is not set up", "key-round"),
    "TOOL_UNAVAILABLE": ("The tool could not be reached", "unplug"),
    "LOG_UNAVAILABLE": ("It could not be written down, so it did not run", "database"),
}
"""What a refusal says, by its code; the error says the rest."""


def ending_of(event: ToolFailed | ToolCancelled, voice: Voice, approval_id: str | None = None) -> Ending:
    if isinstance(event, ToolCancelled):
        return _called_off(event, voice, approval_id)
    code, error = event.result.code, event.result.error or ""
    if code == UNKNOWN:
        return _with(
            "Nobody knows whether it took effect. A person must look", error, "circle-question-mark", "warn"
        )
    if code == "TIMEOUT":
        return _with(f"Stopped after {_took(event)}: it took too long", "", "timer-off", "bad")
    if event.layer is not None or event.run_id is None:
        said, icon = _REFUSED.get(code or "", ("It did not run", "ban"))
        return _with(said, _fields(event) or error, icon, "bad")
    return _with(f"Failed after {_took(event)}", error, "x", "bad")


def _fields(event: ToolFailed) -> str:
    """What was wrong with which argument, where the arguments were refused."""
    fields = event.result.metadata.get("fields") if event.layer == "validate" else None
    if not isinstance(fields, (list, tuple)):
        return ""
    told = [one for one in fields if isinstance(one, dict) and isinstance(one.get("reason"), str)]
    return "; ".join(f"{one.get('path') or 'they'} {one['reason']}" for one in told)


def _called_off(event: ToolCancelled, voice: Voice, approval_id: str | None) -> Ending:
    error = event.result.error or ""
    if event.result.code == "REJECTED":
        who = voice.deciders.get(approval_id or "")
        said = voice.person(who) if who else "a person"
        _, colon, reason = error.partition(": ")
        return _with(f"{said[:1].upper()}{said[1:]} rejected it", reason if colon else "", "x", "bad")
    after = "" if event.run_id is None else f" after {_took(event)}"
    if (who := canceller(event)) is not None:
        said = voice.person(who)
        return Ending(f"{said[:1].upper()}{said[1:]} cancelled it{after}", "circle-slash", "quiet")
    reason = error.removeprefix("Cancelled: ")
    return _with(f"Cancelled{after}", reason, "circle-slash", "quiet")


def canceller(event: ToolCancelled) -> str | None:
    """Whoever cancelled a call, where the record says no more than that."""
    said = (event.result.error or "").removeprefix("Cancelled: ").removesuffix(".")
    who = said.removesuffix(" cancelled it")
    return who if who != said and who and " " not in who else None


def _took(event: ToolFailed | ToolCancelled) -> str:
    return span(event.duration_ms / 1000)


def _with(said: str, reason: str, icon: str, tone: str) -> Ending:
    more = sentence(reason)
    return Ending(f"{said}: {more}" if more else said, icon, tone)
