"""What commands print: a listing, the facts of one thing, what came of a call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from handrail.core.define.call import Outcome, Repair
from handrail.core.define.result import Result
from handrail.core.define.tool import Tool
from handrail.doors.cli.screen import OutputStream, Screen
from handrail.platform.display_text import (
    diff_lines,
    one_line,
    visible,
    visible_json,
    visible_json_line,
    visible_json_lines,
    without_repeated_title,
)


def show_rows(screen: Screen, labels: Sequence[str], rows: Iterable[Sequence[Any]], none: str) -> None:
    """A listing; `none` says on standard error that there is nothing to list."""
    cells = [[_cell_text(one) for one in row] for row in rows]
    if not cells:
        screen.err.say(none)
    elif screen.out.is_terminal:
        from handrail.doors.cli.render import table  # a pipe needs nothing of rich

        screen.out.draw(table(labels, cells, screen.out.console))
    else:
        for row in cells:
            screen.out.line("\t".join(row))


def show_facts(screen: Screen, facts: Mapping[str, Any]) -> None:
    """One thing: a name and a value on each line; what has no value is left out."""
    told = {name: value for name, value in facts.items() if value not in (None, "", [], {})}
    width = max(map(len, told), default=0)
    for name, value in told.items():
        if isinstance(value, Mapping):
            screen.out.line(name)
            for part, inner in value.items():
                shown = (
                    visible_json_lines(inner, " " * 4) if screen.out.is_terminal else visible_json_line(inner)
                )
                screen.out.line(f"  {one_line(str(part))} = {shown}")
        else:
            screen.out.line(f"{name:<{width}}  {_cell_text(value)}")


def format_time(at: float | None, screen: Screen) -> str:
    """A time: in UTC for programs, by the clock on the wall for people."""
    if at is None:
        return ""
    moment = datetime.fromtimestamp(at, UTC)
    if screen.out.is_terminal:
        return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def _cell_text(given: Any) -> str:
    if given is None:
        return ""
    return one_line(given if isinstance(given, str) else visible_json(given))


_DIFF_STYLES = {"added": "green", "removed": "red", "file": "bold", "hunk": "cyan"}

NOT_RUN = frozenset({"pending", "queued"})
"""Statuses of calls that did not run yet."""


def show_outcome(screen: Screen, outcome: Outcome, tool: Tool | None, hint: str | None) -> None:
    """The result on standard output; how it went and what to do next, on standard error."""
    for repair in outcome.repairs:
        screen.err.say(describe_repair(repair), "yellow")
    result = outcome.result
    if outcome.status not in NOT_RUN and (result.success or _has_content(result)):
        if result.summary and _was_streamed(screen, result):
            screen.out.say(result.summary)
        elif screen.out.is_terminal:
            _draw_result(screen.out, result, tool)
        else:
            _write_result(screen.out, result)
    screen.out.flush()  # before what follows on standard error, where both go into one pipe
    if outcome.ok:
        if screen.err.is_terminal:
            screen.err.say(f"{outcome.tool} {outcome.status} in {_duration(outcome.duration_ms)}", "dim")
        return
    said = result.error or result.output or result.to_ui()
    screen.err.say(f"{outcome.status}{f' {outcome.code}' if outcome.code else ''}: {said}", "red")
    if hint:
        screen.err.say(f"  {hint}")


def _was_streamed(screen: Screen, result: Result) -> bool:
    """Whether all that a tool prints was seen in this place while it ran; its own notes stand in brackets."""
    if not screen.err.streamed or result.output is None or not screen.is_same_file:
        return False
    seen = set(screen.err.streamed.splitlines())
    lines = (line for line in visible(result.output).splitlines() if line not in seen)
    return all(line.startswith("[") and line.endswith("]") for line in lines)


def _has_content(result: Result) -> bool:
    return result.data is not None or result.output is not None


def describe_repair(repair: Repair) -> str:
    """A repair in a line."""
    where, before, after = repair.path or "arguments", visible_json(repair.before), visible_json(repair.after)
    return f"repaired {where}: {before} became {after} ({repair.kind})"


def _duration(ms: float) -> str:
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"


def _draw_result(out: OutputStream, result: Result, tool: Tool | None) -> None:
    from handrail.doors.cli import render

    if line := result.summary or result.title:
        out.draw(render.heading(line))
    wanted = (tool.sections or (tool.view.sections if tool.view else ())) if tool else ()
    if wanted and isinstance(result.data, dict):
        out.draw(render.sections(wanted, result.data, out.console))
    elif result.markdown is not None:
        out.draw(render.markdown(result.markdown))
    elif result.output is not None:
        show_text(out, without_repeated_title(result.output, line).removesuffix("\n"))
    elif isinstance(result.data, str):
        out.line(result.data)
    elif result.data is not None:
        out.draw(render.value(result.data, out.console))
    elif not line and not result.attachments:
        out.draw(render.plain_text("Done."))
    for attachment in result.attachments:
        about = attachment.to_log()
        size = f", {about['bytes']} bytes" if "bytes" in about else f", {about['ref']}"
        out.draw(render.plain_text(f"{attachment.name} ({attachment.mime}{size})"))


def show_text(out: OutputStream, text: str) -> None:
    """Text as it is, with the lines of a diff in its colours."""
    for line in diff_lines(text) if text else ():
        out.line(line.text, _DIFF_STYLES.get(line.kind, ""))


def _write_result(out: OutputStream, result: Result) -> None:
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
