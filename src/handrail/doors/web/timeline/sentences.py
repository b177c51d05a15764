"""Events become timeline entries, oldest first. One function for each type of event."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import groupby
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

    sentence: str
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
        sentence, icon = _REFUSALS.get(code or "", ("It did not run", "ban"))
        return _ending(sentence, _field_errors(event) or error, icon, "bad")
    return _ending(f"Failed after {_took(event)}", error, "x", "bad")


def _field_errors(event: ToolFailed) -> str:
    """What was wrong with which argument, where the arguments were refused."""
    fields = event.result.metadata.get("fields") if event.layer == "validate" else None
    if not isinstance(fields, (list, tuple)):
        return ""
    errors = [field for field in fields if isinstance(field, dict) and isinstance(field.get("reason"), str)]
    return "; ".join(f"{error.get('path') or 'they'} {error['reason']}" for error in errors)


def _describe_cancelled(
    event: ToolCancelled, display_names: DisplayNames, approval_id: str | None
) -> CallEnding:
    error = event.result.error or ""
    if event.result.code == "REJECTED":
        who = display_names.deciders.get(approval_id or "")
        name = display_names.person(who) if who else "a person"
        return _ending(f"{_capital(name)} rejected it", error.partition(": ")[2], "x", "bad")
    after = "" if event.run_id is None else f" after {_took(event)}"
    if (who := canceller(event)) is not None:
        sentence = f"{_capital(display_names.person(who))} cancelled it{after}"
        return CallEnding(sentence, "circle-slash", "quiet")
    return _ending(f"Cancelled{after}", error.removeprefix("Cancelled: "), "circle-slash", "quiet")


def canceller(event: ToolCancelled) -> str | None:
    """Whoever cancelled a call, where the record says no more than that."""
    text = (event.result.error or "").removeprefix("Cancelled: ").removesuffix(".")
    who = text.removesuffix(" cancelled it")
    return who if who != text and who and " " not in who else None


def _took(event: ToolCompleted | ToolFailed | ToolCancelled) -> str:
    return duration(event.duration_ms / 1000)


def _ending(sentence: str, reason: str, icon: str, tone: str) -> CallEnding:
    more = as_clause(reason)
    return CallEnding(f"{sentence}: {more}" if more else sentence, icon, tone)


_SETTLED = {
    "queued": "It was put on the plan; nothing ran",
    "duplicate": "The same call had run before; its answer was given again",
}
_ASK_PREFIXES = ("Needs approval: ", "Needs confirmation: ")

_FEW = 2
"""Changes that fit into a sentence."""
_MANY = 20


@dataclass
class TimelineState:
    """What the timeline holds so far."""

    display_names: DisplayNames
    seen: set[str] = field(default_factory=set)
    """Calls that were introduced."""
    questions: dict[str, NeedsApproval] = field(default_factory=dict)
    """The newest question of a call."""


def entries_for(event: Event, state: TimelineState) -> list[TimelineEntry]:
    """What one event says: at least one line, and who called where the call is new."""
    entries = [] if event.call_id in state.seen else [called_entry(event, state)]
    if entries and isinstance(event, ToolStarted):
        return entries
    describe = next((describe for kind, describe in _DESCRIBE.items() if isinstance(event, kind)), _unknown)
    return [*entries, *describe(event, state)]


def called_entry(event: Event, state: TimelineState) -> TimelineEntry:
    """Who called what, and through what."""
    call, who = event.call, event.call.principal
    if call.depth:
        sentence = f"It called {shorten(event.tool)}"
    else:
        caller = state.display_names.caller(who.user, who.agent)
        sentence = (
            f"{_capital(caller)} called {shorten(event.tool)} {state.display_names.through(call.source)}"
        )
        if call.parent is not None:
            sentence += ", to make an earlier call again"
    repairs = getattr(event, "repairs", ())
    return TimelineEntry(event, sentence, "play", opens=True, more=repair_words(repairs))


def repair_words(repairs: Iterable[Repair]) -> tuple[str, ...]:
    """How arguments were read that did not fit as they came."""
    listed = tuple(repairs)
    sentences = [_repaired(repair) for repair in listed[:_MANY]]
    if len(listed) > _MANY:
        sentences.append(f"And {pluralize(len(listed) - _MANY, 'more correction')} like these")
    return tuple(sentences)


def _repaired(repair: Repair) -> str:
    before, path = repair.before, shorten(repair.path, 60)
    if repair.kind in ("parameter name", "name of this alias"):
        return f"Took the name {describe_value(before)} as {describe_value(repair.after)}"
    if repair.kind == "null left out":
        return f"Left out {path or 'an argument'}, which was empty"
    taken = describe_value(before) if isinstance(before, str) else describe_type(before)
    return f"Took {taken} as {describe_type(repair.after)}{f' for {path}' if repair.path else ''}"


def _started(event: ToolStarted, state: TimelineState) -> list[TimelineEntry]:
    return [TimelineEntry(event, f"{shorten(event.tool)} started", "play", more=repair_words(event.repairs))]


def _needs_approval(event: NeedsApproval, state: TimelineState) -> list[TimelineEntry]:
    reason = event.reason
    for prefix in _ASK_PREFIXES:
        reason = reason.removeprefix(prefix)
    sentence = "A person was asked to approve" + (f": {as_clause(reason)}" if reason else "")
    return [
        TimelineEntry(event, sentence, "hand", "warn", folds=fold_if_long("The whole reason", event.reason))
    ]


def _approved(event: ToolApproved, state: TimelineState) -> list[TimelineEntry]:
    request = state.questions.get(event.call_id)
    changes: tuple[ValueChange, ...] = ()
    did = "approved"
    if event.edited and request is None:
        did = "changed the arguments and approved"
    elif event.edited and request is not None:
        changes = value_changes(dict(request.input), dict(event.input))
        did = f"{change_words(changes)} and approved"
    who = _capital(state.display_names.person(event.by))
    return [TimelineEntry(event, f"{who} {did}", "check", "good", changes=changes)]


def change_words(changes: tuple[ValueChange, ...]) -> str:
    """`changed status from "archived" to "inactive"`; many are only counted."""
    if not changes:
        return "looked at the arguments, left them as they were"
    if len(changes) > _FEW:
        return f"changed {pluralize(len(changes), 'argument')}"
    return " and ".join(map(_changed, changes))


def _changed(change: ValueChange) -> str:
    where = shorten(change.path, 60) or "the arguments"
    if change.before is MISSING:
        return f"set {where} to {describe_value(change.after)}"
    if change.after is MISSING:
        return f"took {where} out"
    before, after = describe_value(change.before), describe_value(change.after)
    if before == after:
        return f"changed {where} to another one, {after}"
    return f"changed {where} from {before} to {after}"


def _completed(event: ToolCompleted, state: TimelineState) -> list[TimelineEntry]:
    result = event.result
    sentence, icon, more = f"Ran in {_took(event)}", "check", _tries(result)
    if event.run_id is None:
        by = result.metadata.get("answered_by")
        who = state.display_names.person(by if isinstance(by, str) and by != "a person" else None)
        sentence, icon, more = f"{_capital(who)} answered in the tool's place", "message-square", ()
    elif result.metadata.get("cached") is True:
        sentence, icon, more = "The answer of an earlier run was still good", "copy", ()
    return [TimelineEntry(event, sentence, icon, "good", more=more), *_yielded(event, result)]


def _yielded(event: ToolCompleted, result: Result) -> list[TimelineEntry]:
    """What came of it, in the tool's own words, and the files."""
    title = result.summary or result.title or ""
    warning = result.metadata.get("warning")
    more = (as_clause(warning),) if isinstance(warning, str) else ()
    files = files_of(result)
    if not title and not files and not more:
        return []
    sentence = shorten(title) if title else pluralize(len(files), "file") if files else "A note was left"
    folds = fold_if_long("All of it", title)
    return [TimelineEntry(event, sentence, "flag", more=more, folds=folds, files=files)]


def files_of(result: Result) -> tuple[EntryFile, ...]:
    return tuple(EntryFile(at, file.name, file.mime) for at, file in enumerate(result.attachments))


def _tries(result: Result) -> tuple[str, ...]:
    attempts, errors = result.metadata.get("attempts"), result.metadata.get("earlier_errors")
    if not isinstance(attempts, int) or attempts < 2:
        return ()
    earlier = [str(error) for error in errors] if isinstance(errors, (list, tuple)) else []
    failures = [f"Attempt {at} failed: {as_clause(error)}" for at, error in enumerate(earlier[:_MANY], 1)]
    return (f"It took {attempts} attempts", *failures)


def _ended(event: ToolFailed | ToolCancelled, state: TimelineState) -> list[TimelineEntry]:
    request = state.questions.get(event.call_id)
    ending = describe_ending(event, state.display_names, request.approval_id if request else None)
    files = files_of(event.result) if isinstance(event, ToolFailed) else ()
    folds = fold_if_long("The whole message", event.result.error or "")
    return [TimelineEntry(event, *ending, more=_tries(event.result), folds=folds, files=files)]


def _progress(event: Progress, state: TimelineState) -> list[TimelineEntry]:
    return [TimelineEntry(event, progress_words(event), "loader")]


def progress_words(event: Progress) -> str:
    """How far a body says it is."""
    text = event.told.get("title") or event.told.get("message")
    return shorten(text) if isinstance(text, str) and text.strip() else "Working"


def _retrying(event: Retrying, state: TimelineState) -> list[TimelineEntry]:
    sentence = f"Attempt {event.attempt} failed: {as_clause(event.error)}"
    pause = f"after {duration(event.pause)}" if event.pause > 0 else "at once"
    return [TimelineEntry(event, sentence, "rotate-cw", "warn", more=(f"Tried again {pause}",))]


def _settled(event: Settled, state: TimelineState) -> list[TimelineEntry]:
    sentence = _SETTLED.get(event.outcome.status, "It ended without running")
    return [TimelineEntry(event, sentence, "list-todo")]


def _unknown(event: Event, state: TimelineState) -> list[TimelineEntry]:
    """An event of a type that is not known here: its name, and all of it in its fold."""
    return [TimelineEntry(event, shorten(event.type or type(event).__name__), "circle")]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


_DESCRIBE: dict[type[Event], Callable[[Any, TimelineState], list[TimelineEntry]]] = {
    ToolStarted: _started,
    NeedsApproval: _needs_approval,
    ToolApproved: _approved,
    ToolCompleted: _completed,
    ToolFailed: _ended,
    ToolCancelled: _ended,
    Progress: _progress,
    Retrying: _retrying,
    Settled: _settled,
}


def build_timeline(events: Iterable[Event], display_names: DisplayNames | None = None) -> list[TimelineEntry]:
    """The entries of these events; what a call wrote without a pause is one of them."""
    state = TimelineState(display_names or DisplayNames())
    entries: list[TimelineEntry] = []
    for _, group in groupby(events, _output_call):
        batch = list(group)
        pieces = [event for event in batch if isinstance(event, OutputAppended)]
        if pieces:
            entries.append(_output_entry(pieces))
            continue
        for event in batch:
            entries += entries_for(event, state)
            state.seen.add(event.call_id)
            if isinstance(event, NeedsApproval):
                state.questions[event.call_id] = event
    return entries


def _output_call(event: Event) -> tuple[str] | None:
    """The call whose output an event is, if it is one."""
    return (event.call_id,) if isinstance(event, OutputAppended) else None


def _output_entry(pieces: list[OutputAppended]) -> TimelineEntry:
    text = "".join(str(piece.chunk) for piece in pieces)
    sentence = f"Wrote {pluralize(len(text), 'character')} of output"
    folds = (FoldedText("Output", text),) if text else ()
    return TimelineEntry(pieces[-1], sentence, "scroll-text", folds=folds, events=len(pieces))


def users_in(events: Iterable[Event]) -> set[str]:
    """The people whom a timeline of these events names."""
    users: list[Any] = []
    for event in events:
        users += (event.call.principal.user, getattr(event, "by", None))
        result = getattr(event, "result", None)
        if result is not None:
            users.append(result.metadata.get("answered_by"))
        if isinstance(event, ToolCancelled):
            users.append(canceller(event))
    return {user for user in users if isinstance(user, str)}
