"""What came of a call: laid out at a terminal, plain in a pipe, or whole as one JSON document."""

from __future__ import annotations

from typing import Any

from handrail.core.define.call import Outcome, Repair
from handrail.core.define.result import Result
from handrail.core.define.tool import Tool
from handrail.doors.cli.screen import Screen, Side
from handrail.doors.diffs import diff_lines
from handrail.doors.unsaid import unsaid
from handrail.doors.visible import exact, visible

_STYLES = {"added": "green", "removed": "red", "file": "bold", "hunk": "cyan"}
NOT_RUN = frozenset({"pending", "queued"})
"""Statuses of calls that did not run yet."""


def show_outcome(here: Screen, outcome: Outcome, tool: Tool | None, hint: str | None) -> None:
    """The result on standard output; how it went and what to do next, on standard error."""
    for repair in outcome.repairs:
        here.err.say(told(repair), "yellow")
    result = outcome.result
    if outcome.status not in NOT_RUN and (result.success or _has_content(result)):
        if result.summary and _was_watched(here, result):
            here.out.say(result.summary)
        elif here.out.for_people:
            _draw(here.out, result, tool)
        else:
            _write(here.out, result)
    here.out.flush()  # before what follows on standard error, where both go into one pipe
    if outcome.ok:
        if here.err.for_people:
            here.err.say(f"{outcome.tool} {outcome.status} in {_duration(outcome.duration_ms)}", "dim")
        return
    said = result.error or result.output or result.to_ui()
    here.err.say(f"{outcome.status}{f' {outcome.code}' if outcome.code else ''}: {said}", "red")
    if hint:
        here.err.say(f"  {hint}")


def _was_watched(here: Screen, result: Result) -> bool:
    """Whether all that a tool prints was seen in this place while it ran; its own notes stand in brackets."""
    if not here.err.streamed or result.output is None or not here.is_one:
        return False
    seen = set(here.err.streamed.splitlines())
    lines = (line for line in visible(result.output).splitlines() if line not in seen)
    return all(line.startswith("[") and line.endswith("]") for line in lines)


def _has_content(result: Result) -> bool:
    return result.data is not None or result.output is not None


def told(repair: Repair) -> str:
    """A repair in a line."""
    where, before, after = repair.path or "arguments", exact(repair.before), exact(repair.after)
    return f"repaired {where}: {before} became {after} ({repair.kind})"


def _duration(ms: float) -> str:
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"


def _draw(out: Side, result: Result, tool: Tool | None) -> None:
    from handrail.doors.cli import draw

    if line := result.summary or result.title:
        out.draw(draw.heading(line))
    wanted = (tool.sections or (tool.view.sections if tool.view else ())) if tool else ()
    if wanted and isinstance(result.data, dict):
        out.draw(draw.sections(wanted, result.data, out.console))
    elif result.markdown is not None:
        out.draw(draw.markdown(result.markdown))
    elif result.output is not None:
        show_text(out, unsaid(result.output, line).removesuffix("\n"))
    elif isinstance(result.data, str):
        out.line(result.data)
    elif result.data is not None:
        out.draw(draw.value(result.data, out.console))
    elif not line and not result.attachments:
        out.draw(draw.words("Done."))
    for attachment in result.attachments:
        about = attachment.to_log()
        size = f", {about['bytes']} bytes" if "bytes" in about else f", {about['ref']}"
        out.draw(draw.words(f"{attachment.name} ({attachment.mime}{size})"))


def show_text(out: Side, text: str) -> None:
    """Text as it is, with the lines of a diff in its colours."""
    for line in diff_lines(text) if text else ():
        out.line(line.text, _STYLES.get(line.kind, ""))


def _write(out: Side, result: Result) -> None:
    """The text or the data alone, for whatever reads the pipe."""
    text = result.output if result.output is not None else result.markdown
    if text is None and isinstance(result.data, str):
        text = result.data
    if text is not None:
        out.line(text.removesuffix("\n"))
    elif result.data is not None:
        out.json(result.data)


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """An outcome as JSON data."""
    return {
        "status": outcome.status,
        "ok": outcome.ok,
        "code": outcome.code,
        "tool": outcome.tool,
        "call_id": outcome.call_id,
        "run_id": outcome.run_id,
        "approval_id": outcome.approval_id,
        "duration_ms": outcome.duration_ms,
        "repairs": [one.to_dict() for one in outcome.repairs],
        "decision": None if outcome.decision is None else outcome.decision.to_dict(),
        "result": outcome.result.to_dict(),
    }
