"""handrail policy explain: what the guard would say to a call, and why. Nothing runs."""

from __future__ import annotations

import typer

from handrail.core.define.decision import Decision, Step
from handrail.core.guard.decide import is_standing
from handrail.doors.cli.arguments import Args, CallOptions, Name, ToolCommandLine
from handrail.doors.cli.command import Invocation, command
from handrail.doors.cli.context import CommandContext, open_context
from handrail.doors.cli.exit_codes import ExitCode
from handrail.doors.cli.hints import RequestedCall
from handrail.doors.cli.output import Answer, show_answer
from handrail.doors.cli.screen import OutputStream
from handrail.platform.decisions import remedy

_OPTIONS = frozenset({"args", "as", "debug", "json", "tools"})
_STYLES = {"allow": "", "ask": "yellow", "queue": "yellow", "deny": "red"}
_INVALID = frozenset({"MISSING_PARAM", "INVALID_PARAM"})


@command("json as_ tools")
def explain(cli: Invocation, name: Name = None, args: Args = None) -> None:
    """Say whether a call would run, and why.

    Every layer that was asked, the one that decided, and what would make it pass. Nothing runs. Give the
    arguments as `handrail run` takes them.
    """
    line = ToolCommandLine(CallOptions.of(cli.options, args=args), name, cli.words)
    context = open_context(cli.composition, cli.settings, line.early.tools, line.early.as_)
    context.require_tools()
    decision, requested = _explain(cli, context, line)
    helps = remedy_for(decision, requested)
    document = decision.to_dict() | {"tool": name, "what_helps": helps}
    answer = Answer(document, lambda screen: _show(screen.out, decision, helps))
    show_answer(cli.screen, answer, cli.options.json or "--json" in line.words)
    if decision.code in _INVALID:
        raise typer.Exit(ExitCode.USAGE)
    if requested.tool is None and decision.code in ("TOOL_NOT_FOUND", "TOOL_UNAVAILABLE"):
        raise typer.Exit(ExitCode.REFUSED)


def _explain(
    cli: Invocation, context: CommandContext, line: ToolCommandLine
) -> tuple[Decision, RequestedCall]:
    actor = context.actor
    try:
        tool = cli.run(context.find(line.name))
        if isinstance(tool, Decision):
            return tool, RequestedCall(context, line.name, line.early)
        args, options = line.read(tool, _OPTIONS)
        decision = cli.run(context.hr.explain(line.name, args, actor.principal, source=actor.source))
        return decision, RequestedCall(context, line.name, options, tool, args)
    finally:
        cli.run(context.hr.close())


def _show(out: OutputStream, decision: Decision, helps: str | None) -> None:
    out.say(f"{decision.verdict}: {decision.reason}", "bold")
    decider = decision.decider
    for step in decision.trace:
        mark = ">" if step is decider else " "
        out.say(f"  {mark} {step}", _STYLES[step.verdict])
    if helps:
        out.say(f"\nWhat would help: {helps}")


def remedy_for(decision: Decision, requested: RequestedCall) -> str | None:
    """What would make the call pass, as far as the deciding step tells."""
    decider = decision.decider
    if decider is None or decision.verdict == "allow":
        return None
    if decision.code in _INVALID:
        return f"correct the arguments; the flags are shown by: {requested.flags}"
    if (text := remedy(decider)) is not None:
        return text
    match decider.layer:
        case "find" | "visibility":
            return f"use the name of a tool that is there; see: {requested.tools}"
        case "rules":
            return _rule(decider, requested.context)
        case "danger" | "level" | "policy":
            return _answer(decision, requested)
    return "look at what the step says, and ask whoever wrote it"


def _rule(step: Step, context: CommandContext) -> str:
    rules = (rule for policy in context.hr.policy.chain for rule in policy.rules)
    rule = next((rule for rule in rules if rule.label == step.rule), None)
    when = f"; it applies when {dict(rule.when)}" if rule is not None and rule.when else ""
    change = f"other arguments, or a change of the rule {step.rule!r}{when}"
    if step.verdict != "ask":
        return change
    return f"{'somebody else' if context.actor.agent is None else 'a person'} agrees; or {change}"


def _answer(decision: Decision, requested: RequestedCall) -> str:
    if decision.by == "caller":
        return f"confirm it; at a terminal you are asked by: {requested.run}"
    yes = "answers it too" if is_standing(decision) else "does not answer this one"
    return f"a person agrees; --yes {yes}; at a terminal you are asked by: {requested.run}"
