"""What commands print: a listing, the facts of one thing, what came of a call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from handrail.core.define.call import Outcome, Repair
from handrail.core.define.result import Result
from handrail.core.define.tool import Tool
from handrail.doors.cli.exit_codes import ExitCode, exit_code_of
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


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command answers: a JSON document for programs or a text for people, and the exit code."""

    document: Any
    text: str | Callable[[Screen], None]
    """A sentence, or what writes the text."""
    note: str | None = None
    """What is said on standard error after the text."""
    code: ExitCode = ExitCode.DONE


def show_answer(screen: Screen, answer: Answer, json: bool) -> None:
    """The document, or the text and what is to be said after it."""
    if json:
        screen.out.json(answer.document)
        return
    if isinstance(answer.text, str):
        screen.out.say(answer.text)
    else:
        answer.text(screen)
    if answer.note is not None:
        screen.out.flush()  # before what follows on standard error, where both go into one pipe
        screen.err.say(answer.note)


def listing(labels: Sequence[str], rows: Sequence[Sequence[Any]], none: str) -> Callable[[Screen], None]:
    """The text of an answer that lists something."""
    return lambda screen: show_rows(screen, labels, rows, none)


def outcome_answer(outcome: Outcome, tool: Tool | None = None, hint: str | None = None) -> Answer:
    """What came of a call."""
    return Answer(
        outcome_json(outcome),
        lambda screen: show_outcome(screen, outcome, tool, hint),
        code=exit_code_of(outcome),
    )


def show_rows(screen: Screen, labels: Sequence[str], rows: Iterable[Sequence[Any]], none: str) -> None:
    """A listing; `none` says on standard error that there is nothing to list."""
    cells = [[_cell_text(value, screen) for value in row] for row in rows]
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
    shown = {name: value for name, value in facts.items() if value not in (None, "", [], {})}
    width = max(map(len, shown), default=0)
    for name, value in shown.items():
        if isinstance(value, Mapping):
            screen.out.line(name)
            for part, inner in value.items():
                text = (
                    visible_json_lines(inner, " " * 4) if screen.out.is_terminal else visible_json_line(inner)
                )
                screen.out.line(f"  {one_line(str(part))} = {text}")
        else:
            screen.out.line(f"{name:<{width}}  {_cell_text(value, screen)}")


def moment(at: float | None) -> datetime | None:
    """A time as a cell of a listing or as a fact."""
    return None if at is None else datetime.fromtimestamp(at, UTC)


def format_time(at: float | None, screen: Screen) -> str:
    """A time: in UTC for programs, by the clock on the wall for people."""
    return _cell_text(moment(at), screen)


def _cell_text(value: Any, screen: Screen) -> str:
    if value is None:
        return ""
    if not isinstance(value, datetime):
        return one_line(value if isinstance(value, str) else visible_json(value))
    if screen.out.is_terminal:
        return value.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return value.isoformat(timespec="seconds").replace("+00:00", "Z")


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
    message = result.error or result.output or result.to_ui()
    screen.err.say(f"{outcome.status}{f' {outcome.code}' if outcome.code else ''}: {message}", "red")
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
    sections = (tool.sections or (tool.view.sections if tool.view else ())) if tool else ()
    if sections and isinstance(result.data, dict):
        out.draw(render.sections(sections, result.data, out.console))
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
        "repairs": [repair.to_dict() for repair in outcome.repairs],
        "decision": None if outcome.decision is None else outcome.decision.to_dict(),
        "result": outcome.result.to_dict(),
    }
