"""Sentences: what each type of event says. One function a type."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from handrail.core.define.call import Repair
from handrail.core.define.result import Result
from handrail.core.tell.events import (
    Event,
    NeedsApproval,
    Progress,
    Retrying,
    Settled,
    ToolApproved,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolStarted,
)
from handrail.doors.web.story.changes import MISSING, Change, changes
from handrail.doors.web.story.endings import ending_of
from handrail.doors.web.story.line import File, Line
from handrail.doors.web.story.texts import fold_of, kind_words, sentence, short, value_words
from handrail.doors.web.story.voice import Voice
from handrail.doors.web.words import count, span

_ASKS = ("Needs approval: ", "Needs confirmation: ")
_FEW = 2
"""Changes that fit into a sentence."""
_MANY = 20


@dataclass
class Known:
    """What the story has told so far."""

    voice: Voice
    seen: set[str] = field(default_factory=set)
    """Calls that were introduced."""
    asked: dict[str, NeedsApproval] = field(default_factory=dict)
    """The newest question of a call."""


def lines_of(event: Event, known: Known) -> list[Line]:
    """What one event says: at least one line, and who called where the call is new."""
    lines = [] if event.call_id in known.seen else [called(event, known)]
    if lines and isinstance(event, ToolStarted):
        return lines
    says = next((one for kind, one in _SAYS.items() if isinstance(event, kind)), None)
    return [*lines, *(says(event, known) if says else [_unknown(event)])]


def called(event: Event, known: Known) -> Line:
    """Who called what, and through what."""
    call, who = event.call, event.call.principal
    if call.depth:
        said = f"It called {short(event.tool)}"
    else:
        caller = known.voice.caller(who.user if who else None, who.agent if who else None)
        said = f"{_capital(caller)} called {short(event.tool)} {known.voice.through(call.source)}"
        if call.parent is not None:
            said += ", to make an earlier call again"
    repairs = getattr(event, "repairs", ())
    return Line(event, said, "play", opens=True, more=repair_words(repairs))


def repair_words(repairs: Iterable[Repair]) -> tuple[str, ...]:
    """How arguments were read that did not fit as they came."""
    all_ = tuple(repairs)
    told = [_repaired(one) for one in all_[:_MANY]]
    if len(all_) > _MANY:
        told.append(f"And {count(len(all_) - _MANY, 'more correction')} like these")
    return tuple(told)


def _repaired(one: Repair) -> str:
    where = f" for {short(one.path, 60)}" if one.path else ""
    if one.kind in ("parameter name", "name of this alias"):
        return f"Took the name {value_words(one.before)} as {value_words(one.after)}"
    if one.kind == "null left out":
        return f"Left out {short(one.path, 60) or 'an argument'}, which was empty"
    return f"Took {_short_kind(one.before)} as {kind_words(one.after)}{where}"


def _short_kind(value: Any) -> str:
    return value_words(value) if isinstance(value, str) else kind_words(value)


def _started(event: ToolStarted, known: Known) -> list[Line]:
    return [Line(event, f"{short(event.tool)} started", "play", more=repair_words(event.repairs))]


def _needs_approval(event: NeedsApproval, known: Known) -> list[Line]:
    reason = event.reason
    for prefix in _ASKS:
        reason = reason.removeprefix(prefix)
    said = f"A person was asked to approve: {sentence(reason)}" if reason else "A person was asked to approve"
    return [Line(event, said, "hand", "warn", folds=fold_of("The whole reason", event.reason))]


def _approved(event: ToolApproved, known: Known) -> list[Line]:
    who = _capital(known.voice.person(event.by))
    asked = known.asked.get(event.call_id)
    if not event.edited:
        return [Line(event, f"{who} approved", "check", "good")]
    if asked is None:
        return [Line(event, f"{who} changed the arguments and approved", "check", "good")]
    found = changes(dict(asked.input), dict(event.input))
    return [Line(event, f"{who} {change_words(found)} and approved", "check", "good", changes=found)]


def change_words(found: tuple[Change, ...]) -> str:
    """`changed status from "archived" to "inactive"`; many are only counted."""
    if not found:
        return "looked at the arguments, left them as they were"
    if len(found) > _FEW:
        return f"changed {count(len(found), 'argument')}"
    return " and ".join(map(_changed, found))


def _changed(one: Change) -> str:
    where = short(one.path, 60) or "the arguments"
    if one.before is MISSING:
        return f"set {where} to {value_words(one.after)}"
    if one.after is MISSING:
        return f"took {where} out"
    before, after = value_words(one.before), value_words(one.after)
    if before == after:
        return f"changed {where} to another one, {after}"
    return f"changed {where} from {before} to {after}"


def _completed(event: ToolCompleted, known: Known) -> list[Line]:
    result = event.result
    by = result.metadata.get("answered_by")
    if event.run_id is None:
        who = known.voice.person(by if isinstance(by, str) and by != "a person" else None)
        first = Line(event, f"{_capital(who)} answered in the tool's place", "message-square", "good")
    elif result.metadata.get("cached") is True:
        first = Line(event, "The answer of an earlier run was still good", "copy", "good")
    else:
        first = Line(event, f"Ran in {span(event.duration_ms / 1000)}", "check", "good", more=_tries(result))
    return [first, *_yielded(event, result)]


def _yielded(event: ToolCompleted, result: Result) -> list[Line]:
    """What came of it, in the tool's own words, and the files."""
    said = result.summary or result.title
    warning = result.metadata.get("warning")
    more = (sentence(warning),) if isinstance(warning, str) else ()
    files = files_of(result)
    if not said and not files and not more:
        return []
    words = short(said) if said else count(len(files), "file") if files else "A note was left"
    return [Line(event, words, "flag", more=more, folds=fold_of("All of it", said or ""), files=files)]


def files_of(result: Result) -> tuple[File, ...]:
    return tuple(File(at, one.name, one.mime) for at, one in enumerate(result.attachments))


def _tries(result: Result) -> tuple[str, ...]:
    attempts, errors = result.metadata.get("attempts"), result.metadata.get("earlier_errors")
    if not isinstance(attempts, int) or attempts < 2:
        return ()
    earlier = [str(one) for one in errors] if isinstance(errors, (list, tuple)) else []
    told = [f"Attempt {at} failed: {sentence(one)}" for at, one in enumerate(earlier[:_MANY], 1)]
    return (f"It took {attempts} attempts", *told)


def _failed(event: ToolFailed, known: Known) -> list[Line]:
    ending = ending_of(event, known.voice)
    error = event.result.error or ""
    files = files_of(event.result)
    folds = fold_of("The whole message", error)
    return [
        Line(
            event, ending.said, ending.icon, ending.tone, more=_tries(event.result), folds=folds, files=files
        )
    ]


def _cancelled(event: ToolCancelled, known: Known) -> list[Line]:
    asked = known.asked.get(event.call_id)
    ending = ending_of(event, known.voice, asked.approval_id if asked else None)
    folds = fold_of("The whole message", event.result.error or "")
    return [Line(event, ending.said, ending.icon, ending.tone, more=_tries(event.result), folds=folds)]


def _progress(event: Progress, known: Known) -> list[Line]:
    return [Line(event, progress_words(event), "loader")]


def progress_words(event: Progress) -> str:
    """How far a body says it is."""
    said = event.told.get("title") or event.told.get("message")
    return short(said) if isinstance(said, str) and said.strip() else "Working"


def _retrying(event: Retrying, known: Known) -> list[Line]:
    said = f"Attempt {event.attempt} failed: {sentence(event.error)}"
    pause = f"after {span(event.pause)}" if event.pause > 0 else "at once"
    return [Line(event, said, "rotate-cw", "warn", more=(f"Tried again {pause}",))]


def _settled(event: Settled, known: Known) -> list[Line]:
    words = {
        "queued": "It was put on the plan; nothing ran",
        "duplicate": "The same call had run before; its answer was given again",
    }
    return [Line(event, words.get(event.outcome.status, "It ended without running"), "list-todo")]


def _unknown(event: Event) -> Line:
    """An event of a kind that this story does not know: told by its name, and whole in its fold."""
    return Line(event, short(event.type or type(event).__name__), "circle")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


_SAYS: dict[type[Event], Callable[[Any, Known], list[Line]]] = {
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
