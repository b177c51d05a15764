"""handrail policy explain: what the guard would say to a call, and why. Nothing runs."""

from __future__ import annotations

import asyncio
from typing import Any

import typer

from handrail.core.define.decision import Decision, Step
from handrail.core.guard.decide import is_standing
from handrail.doors.cli.exits import Exit
from handrail.doors.cli.hints import Asked
from handrail.doors.cli.line import Args, Line, Name, Options
from handrail.doors.cli.opening import Opened, open_for
from handrail.doors.cli.options import As, Debug, Json, Tools
from handrail.doors.cli.screen import Side, screen
from handrail.doors.why import remedy

_KNOWN = frozenset({"args", "as", "debug", "json", "tools"})
_STYLES = {"allow": "", "ask": "yellow", "queue": "yellow", "deny": "red"}
_INVALID = frozenset({"MISSING_PARAM", "INVALID_PARAM"})


def command(
    ctx: typer.Context,
    name: Name = None,
    args: Args = None,
    json: Json = False,
    as_: As = None,
    tools: Tools = None,
    debug: Debug = False,
) -> None:
    """Say whether a call would run, and why.

    Every layer that was asked, the one that decided, and what would make it pass. Nothing runs. Give the
    arguments as `handrail run` takes them.
    """
    options = Options(args, as_, tools=tuple(tools or ()), json=json, debug=debug)
    line = Line(options, name, ctx.args)
    with screen(line.early.debug) as here:
        opened = open_for(ctx, line.early.tools, line.early.as_)
        opened.need_tools()
        decision, asked = _explained(opened, line)
        helps = what_helps(decision, asked)
        if json or "--json" in line.words:
            here.out.json(decision.to_dict() | {"tool": name, "what_helps": helps})
        else:
            _show(here.out, decision, helps)
        if decision.code in _INVALID:
            raise typer.Exit(Exit.USAGE)
        if asked.tool is None and decision.code in ("TOOL_NOT_FOUND", "TOOL_UNAVAILABLE"):
            raise typer.Exit(Exit.REFUSED)


def _explained(opened: Opened, line: Line) -> tuple[Decision, Asked]:
    acting = opened.acting
    with asyncio.Runner() as loop:
        try:
            found = loop.run(opened.find(line.name))
            if isinstance(found, Decision):
                return found, Asked(opened, line.name, line.early)
            given, options = line.read(found, _KNOWN)
            explaining = opened.hr.explain(line.name, given, acting.principal, source=acting.source)
            return loop.run(explaining), Asked(opened, line.name, options, found, given)
        finally:
            loop.run(opened.hr.close())


def _show(out: Side, decision: Decision, helps: str | None) -> None:
    out.say(f"{decision.verdict}: {decision.reason}", "bold")
    decider = decision.decider
    for step in decision.trace:
        mark = ">" if step is decider else " "
        out.say(f"  {mark} {step}", _STYLES[step.verdict])
    if helps:
        out.say(f"\nWhat would help: {helps}")


def what_helps(decision: Decision, asked: Asked) -> str | None:
    """What would make the call pass, as far as the deciding step tells."""
    decider = decision.decider
    if decider is None or decision.verdict == "allow":
        return None
    if decision.code in _INVALID:
        return f"correct the arguments; the flags are shown by: {asked.flags}"
    if (known := remedy(decider)) is not None:
        return known
    match decider.layer:
        case "find" | "visibility":
            return f"use the name of a tool that is there; see: {asked.tools}"
        case "rules":
            return _rule(decider, asked.opened)
        case "danger" | "level" | "policy":
            return _answer(decision, asked)
    return "look at what the step says, and ask whoever wrote it"


def _rule(step: Step, opened: Opened) -> str:
    rules: Any = (rule for one in opened.hr.policy.chain for rule in one.rules)
    rule = next((one for one in rules if one.label == step.rule), None)
    when = f"; it applies when {dict(rule.when)}" if rule is not None and rule.when else ""
    change = f"other arguments, or a change of the rule {step.rule!r}{when}"
    if step.verdict != "ask":
        return change
    return f"{'somebody else' if opened.acting.agent is None else 'a person'} agrees; or {change}"


def _answer(decision: Decision, asked: Asked) -> str:
    if decision.by == "caller":
        return f"confirm it; at a terminal you are asked by: {asked.run}"
    yes = "answers it too" if is_standing(decision) else "does not answer this one"
    return f"a person agrees; --yes {yes}; at a terminal you are asked by: {asked.run}"
