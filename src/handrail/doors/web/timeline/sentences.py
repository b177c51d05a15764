"""Events become timeline entries, oldest first. One function for each type of event."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from handrail.core.define.call import Repair
from handrail.core.define.result import Result
from handrail.core.tell.events import (
    Event,
    NeedsApproval,
    OutputAppended,
    Progress,
    Retrying,
    Settled,
    ToolApproved,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolStarted,
)
from handrail.core.tell.runs import UNKNOWN_OUTCOME
from handrail.doors.web.humanize import duration, pluralize
from handrail.doors.web.timeline.entries import (
    MISSING,
    EntryFile,
    FoldedText,
    TimelineEntry,
    ValueChange,
    value_changes,
)
from handrail.doors.web.timeline.texts import (
    DisplayNames,
    as_clause,
    describe_type,
    describe_value,
    fold_if_long,
    shorten,
)


class CallEnding(NamedTuple):
    """A sentence and how it looks."""

    said: str
    icon: str
    tone: str


_REFUSALS = {
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


def describe_ending(
    event: ToolFailed | ToolCancelled, display_names: DisplayNames, approval_id: str | None = None
) -> CallEnding:
    if isinstance(event, ToolCancelled):
        return _describe_cancelled(event, display_names, approval_id)
    code, error = event.result.code, event.result.error or ""
    if code == UNKNOWN_OUTCOME:
        return _ending(
            "Nobody knows whether it took effect. A person must look", error, "circle-question-mark", "warn"
        )
    if code == "TIMEOUT":
        return _ending(f"Stopped after {_took(event)}: it took too long", "", "timer-off", "bad")
    if event.layer is not None or event.run_id is None:
        said, icon = _REFUSALS.get(code or "", ("It did not run", "ban"))
        return _ending(said, _field_errors(event) or error, icon, "bad")
    return _ending(f"Failed after {_took(event)}", error, "x", "bad")


def _field_errors(event: ToolFailed) -> str:
    """What was wrong with which argument, where the arguments were refused."""
    fields = event.result.metadata.get("fields") if event.layer == "validate" else None
    if not isinstance(fields, (list, tuple)):
        return ""
    told = [one for one in fields if isinstance(one, dict) and isinstance(one.get("reason"), str)]
    return "; ".join(f"{one.get('path') or 'they'} {one['reason']}" for one in told)


def _describe_cancelled(
    event: ToolCancelled, display_names: DisplayNames, approval_id: str | None
) -> CallEnding:
    error = event.result.error or ""
    if event.result.code == "REJECTED":
        who = display_names.deciders.get(approval_id or "")
        said = display_names.person(who) if who else "a person"
        _, colon, reason = error.partition(": ")
        return _ending(f"{said[:1].upper()}{said[1:]} rejected it", reason if colon else "", "x", "bad")
    after = "" if event.run_id is None else f" after {_took(event)}"
    if (who := canceller(event)) is not None:
        said = display_names.person(who)
        return CallEnding(f"{said[:1].upper()}{said[1:]} cancelled it{after}", "circle-slash", "quiet")
    reason = error.removeprefix("Cancelled: ")
    return _ending(f"Cancelled{after}", reason, "circle-slash", "quiet")


def canceller(event: ToolCancelled) -> str | None:
    """Whoever cancelled a call, where the record says no more than that."""
    said = (event.result.error or "").removeprefix("Cancelled: ").removesuffix(".")
    who = said.removesuffix(" cancelled it")
    return who if who != said and who and " " not in who else None


def _took(event: ToolFailed | ToolCancelled) -> str:
    return duration(event.duration_ms / 1000)


def _ending(said: str, reason: str, icon: str, tone: str) -> CallEnding:
    more = as_clause(reason)
    return CallEnding(f"{said}: {more}" if more else said, icon, tone)


_ASK_PREFIXES = ("Needs approval: ", "Needs confirmation: ")

_FEW = 2
"""Changes that fit into a sentence."""
_MANY = 20


@dataclass
class TimelineState:
    """What the story has told so far."""

    display_names: DisplayNames
    seen: set[str] = field(default_factory=set)
    """Calls that were introduced."""
    asked: dict[str, NeedsApproval] = field(default_factory=dict)
    """The newest question of a call."""


def entries_for(event: Event, state: TimelineState) -> list[TimelineEntry]:
    """What one event says: at least one line, and who called where the call is new."""
    entries = [] if event.call_id in state.seen else [called_entry(event, state)]
    if entries and isinstance(event, ToolStarted):
        return entries
    says = next((one for kind, one in _DESCRIBE.items() if isinstance(event, kind)), None)
    return [*entries, *(says(event, state) if says else [_unknown(event)])]


def called_entry(event: Event, state: TimelineState) -> TimelineEntry:
    """Who called what, and through what."""
    call, who = event.call, event.call.principal
    if call.depth:
        said = f"It called {shorten(event.tool)}"
    else:
        caller = state.display_names.caller(who.user, who.agent)
        said = f"{_capital(caller)} called {shorten(event.tool)} {state.display_names.through(call.source)}"
        if call.parent is not None:
            said += ", to make an earlier call again"
    repairs = getattr(event, "repairs", ())
    return TimelineEntry(event, said, "play", opens=True, more=repair_words(repairs))


def repair_words(repairs: Iterable[Repair]) -> tuple[str, ...]:
    """How arguments were read that did not fit as they came."""
    all_ = tuple(repairs)
    told = [_repaired(one) for one in all_[:_MANY]]
    if len(all_) > _MANY:
        told.append(f"And {pluralize(len(all_) - _MANY, 'more correction')} like these")
    return tuple(told)


def _repaired(one: Repair) -> str:
    where = f" for {shorten(one.path, 60)}" if one.path else ""
    if one.kind in ("parameter name", "name of this alias"):
        return f"Took the name {describe_value(one.before)} as {describe_value(one.after)}"
    if one.kind == "null left out":
        return f"Left out {shorten(one.path, 60) or 'an argument'}, which was empty"
    return f"Took {_short_kind(one.before)} as {describe_type(one.after)}{where}"


def _short_kind(value: Any) -> str:
    return describe_value(value) if isinstance(value, str) else describe_type(value)


def _started(event: ToolStarted, state: TimelineState) -> list[TimelineEntry]:
    return [TimelineEntry(event, f"{shorten(event.tool)} started", "play", more=repair_words(event.repairs))]


def _needs_approval(event: NeedsApproval, state: TimelineState) -> list[TimelineEntry]:
    reason = event.reason
    for prefix in _ASK_PREFIXES:
        reason = reason.removeprefix(prefix)
    said = (
        f"A person was asked to approve: {as_clause(reason)}" if reason else "A person was asked to approve"
    )
    return [TimelineEntry(event, said, "hand", "warn", folds=fold_if_long("The whole reason", event.reason))]


def _approved(event: ToolApproved, state: TimelineState) -> list[TimelineEntry]:
    who = _capital(state.display_names.person(event.by))
    asked = state.asked.get(event.call_id)
    if not event.edited:
        return [TimelineEntry(event, f"{who} approved", "check", "good")]
    if asked is None:
        return [TimelineEntry(event, f"{who} changed the arguments and approved", "check", "good")]
    found = value_changes(dict(asked.input), dict(event.input))
    return [TimelineEntry(event, f"{who} {change_words(found)} and approved", "check", "good", changes=found)]


def change_words(found: tuple[ValueChange, ...]) -> str:
    """`changed status from "archived" to "inactive"`; many are only counted."""
    if not found:
        return "looked at the arguments, left them as they were"
    if len(found) > _FEW:
        return f"changed {pluralize(len(found), 'argument')}"
    return " and ".join(map(_changed, found))


def _changed(one: ValueChange) -> str:
    where = shorten(one.path, 60) or "the arguments"
    if one.before is MISSING:
        return f"set {where} to {describe_value(one.after)}"
    if one.after is MISSING:
        return f"took {where} out"
    before, after = describe_value(one.before), describe_value(one.after)
    if before == after:
        return f"changed {where} to another one, {after}"
    return f"changed {where} from {before} to {after}"


def _completed(event: ToolCompleted, state: TimelineState) -> list[TimelineEntry]:
    result = event.result
    by = result.metadata.get("answered_by")
    if event.run_id is None:
        who = state.display_names.person(by if isinstance(by, str) and by != "a person" else None)
        first = TimelineEntry(
            event, f"{_capital(who)} answered in the tool's place", "message-square", "good"
        )
    elif result.metadata.get("cached") is True:
        first = TimelineEntry(event, "The answer of an earlier run was still good", "copy", "good")
    else:
        first = TimelineEntry(
            event, f"Ran in {duration(event.duration_ms / 1000)}", "check", "good", more=_tries(result)
        )
    return [first, *_yielded(event, result)]


def _yielded(event: ToolCompleted, result: Result) -> list[TimelineEntry]:
    """What came of it, in the tool's own words, and the files."""
    said = result.summary or result.title
    warning = result.metadata.get("warning")
    more = (as_clause(warning),) if isinstance(warning, str) else ()
    files = files_of(result)
    if not said and not files and not more:
        return []
    words = shorten(said) if said else pluralize(len(files), "file") if files else "A note was left"
    return [
        TimelineEntry(
            event, words, "flag", more=more, folds=fold_if_long("All of it", said or ""), files=files
        )
    ]


def files_of(result: Result) -> tuple[EntryFile, ...]:
    return tuple(EntryFile(at, one.name, one.mime) for at, one in enumerate(result.attachments))


def _tries(result: Result) -> tuple[str, ...]:
    attempts, errors = result.metadata.get("attempts"), result.metadata.get("earlier_errors")
    if not isinstance(attempts, int) or attempts < 2:
        return ()
    earlier = [str(one) for one in errors] if isinstance(errors, (list, tuple)) else []
    told = [f"Attempt {at} failed: {as_clause(one)}" for at, one in enumerate(earlier[:_MANY], 1)]
    return (f"It took {attempts} attempts", *told)


def _failed(event: ToolFailed, state: TimelineState) -> list[TimelineEntry]:
    ending = describe_ending(event, state.display_names)
    error = event.result.error or ""
    files = files_of(event.result)
    folds = fold_if_long("The whole message", error)
    return [
        TimelineEntry(
            event, ending.said, ending.icon, ending.tone, more=_tries(event.result), folds=folds, files=files
        )
    ]


def _cancelled(event: ToolCancelled, state: TimelineState) -> list[TimelineEntry]:
    asked = state.asked.get(event.call_id)
    ending = describe_ending(event, state.display_names, asked.approval_id if asked else None)
    folds = fold_if_long("The whole message", event.result.error or "")
    return [
        TimelineEntry(event, ending.said, ending.icon, ending.tone, more=_tries(event.result), folds=folds)
    ]


def _progress(event: Progress, state: TimelineState) -> list[TimelineEntry]:
    return [TimelineEntry(event, progress_words(event), "loader")]


def progress_words(event: Progress) -> str:
    """How far a body says it is."""
    said = event.told.get("title") or event.told.get("message")
    return shorten(said) if isinstance(said, str) and said.strip() else "Working"


def _retrying(event: Retrying, state: TimelineState) -> list[TimelineEntry]:
    said = f"Attempt {event.attempt} failed: {as_clause(event.error)}"
    pause = f"after {duration(event.pause)}" if event.pause > 0 else "at once"
    return [TimelineEntry(event, said, "rotate-cw", "warn", more=(f"Tried again {pause}",))]


def _settled(event: Settled, state: TimelineState) -> list[TimelineEntry]:
    words = {
        "queued": "It was put on the plan; nothing ran",
        "duplicate": "The same call had run before; its answer was given again",
    }
    return [TimelineEntry(event, words.get(event.outcome.status, "It ended without running"), "list-todo")]


def _unknown(event: Event) -> TimelineEntry:
    """An event of a kind that this story does not know: told by its name, and whole in its fold."""
    return TimelineEntry(event, shorten(event.type or type(event).__name__), "circle")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


_DESCRIBE: dict[type[Event], Callable[[Any, TimelineState], list[TimelineEntry]]] = {
    ToolStarted: _started,
    NeedsApproval: _needs_approval,
    ToolApproved: _approved,
    ToolCompleted: _completed,
    ToolFailed: _failed,
    ToolCancelled: _cancelled,
    Progress: _progress,
    Retrying: _retrying,
    Settled: _settled,
}


def build_timeline(events: Iterable[Event], display_names: DisplayNames | None = None) -> list[TimelineEntry]:
    """The story of these events."""
    state = TimelineState(display_names or DisplayNames())
    entries: list[TimelineEntry] = []
    pieces: list[OutputAppended] = []
    for event in events:
        if isinstance(event, OutputAppended):
            if pieces and pieces[-1].call_id != event.call_id:
                entries.append(_output_entry(pieces))
                pieces = []
            pieces.append(event)
            continue
        if pieces:
            entries.append(_output_entry(pieces))
            pieces = []
        entries += entries_for(event, state)
        _remember(event, state)
    if pieces:
        entries.append(_output_entry(pieces))
    return entries


def _remember(event: Event, state: TimelineState) -> None:
    state.seen.add(event.call_id)
    if isinstance(event, NeedsApproval):
        state.asked[event.call_id] = event


def _output_entry(pieces: list[OutputAppended]) -> TimelineEntry:
    text = "".join(str(one.chunk) for one in pieces)
    said = f"Wrote {pluralize(len(text), 'character')} of output"
    folds = (FoldedText("Output", text),) if text else ()
    return TimelineEntry(pieces[-1], said, "scroll-text", folds=folds, events=len(pieces))


def users_in(events: Iterable[Event]) -> set[str]:
    """The people that a story of these events speaks of."""
    found: list[Any] = []
    for event in events:
        found += (event.call.principal.user, getattr(event, "by", None))
        result = getattr(event, "result", None)
        if result is not None:
            found.append(result.metadata.get("answered_by"))
        if isinstance(event, ToolCancelled):
            found.append(canceller(event))
    return {one for one in found if isinstance(one, str)}
