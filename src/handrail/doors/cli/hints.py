"""Hints: what the person at the terminal can do next, as commands that run as they stand."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from handrail.core.define.call import Outcome
from handrail.core.define.decision import Decision
from handrail.core.define.tool import Tool
from handrail.core.guard.decide import is_standing
from handrail.doors.cli.arguments import CallOptions, format_arguments
from handrail.doors.cli.context import CommandContext
from handrail.doors.cli.flags import flags_of


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """What was asked for on a command line: one call, as far as it could be read."""

    context: CommandContext
    name: str
    options: CallOptions
    tool: Tool | None = None
    args: Mapping[str, Any] | None = None

    @property
    def tools(self) -> str:
        """The command that lists the tools."""
        return self.context.command("tools")

    @property
    def flags(self) -> str:
        """The command that shows the flags of the tool."""
        return self.context.command("run", self.name, then=["--help"])

    @property
    def explain(self) -> str:
        """The command that says what the guard thinks of this call."""
        return self._same("policy", "explain")

    @property
    def run(self) -> str:
        """The command that runs this call."""
        return self._same("run")

    @property
    def plan(self) -> str:
        """The command that runs what is planned."""
        named = [word for name in self.options.tools for word in ("--tools", name)]
        return shlex.join(["handrail", "plan", "run", *named])

    def _same(self, *words: str) -> str:
        """A command about the same call; secrets are not written out, so they are left to the reader."""
        if self.tool is None:
            return self.context.command(*words, self.name)
        flags = flags_of(self.tool, self.name)
        args = dict(self.args or {})
        secret = [flag.param for flag in flags if flag.secret and args.pop(flag.param, None) is not None]
        command = self.context.command(*words, self.name, then=format_arguments(args, flags))
        return f"{command} (and {', '.join(secret)})" if secret else command


def reword_outcome(outcome: Outcome, requested: RequestedCall, answerable: bool) -> Outcome:
    """An outcome in words that are true here: without a database, what waits ends with this command."""
    result = outcome.result
    if outcome.code == "PLANNED" and not requested.context.has_database:
        title = requested.tool.name if requested.tool is not None else outcome.tool
        text = f"{title} was not run: plan mode holds it back."
        return replace(outcome, result=replace(result, summary=text, output=text))
    if outcome.code != "NEEDS_APPROVAL" or outcome.decision is None or requested.context.has_database:
        return outcome
    if _needs_others(outcome.decision, requested):
        why = "somebody else must agree, and nobody else can be asked here"
    else:
        why = "nobody answered" if answerable else "nobody could be asked here"
    text = f"{outcome.decision.reason}. It was not run: {why}."
    return replace(outcome, result=replace(result, summary="Not approved", error=text))


def hint_of(outcome: Outcome, requested: RequestedCall, answerable: bool) -> str | None:
    """What to do next; `answerable` says whether somebody sits at a terminal."""
    match outcome.code:
        case "NEEDS_APPROVAL" if requested.context.has_database and outcome.approval_id is not None:
            return f"It goes on when somebody answers: handrail approvals approve {outcome.approval_id}"
        case "NEEDS_APPROVAL":
            return _who_answers(outcome.decision, requested, answerable)
        case "TOOL_NOT_FOUND":
            return f"See which tools there are: {requested.tools}"
        case "NOT_PERMITTED":
            return f"See why: {requested.explain}"
        case "MISSING_PARAM" | "INVALID_PARAM":
            return f"See its flags: {requested.flags}"
        case "PLANNED" if requested.context.has_database:
            return f"See the plan: handrail plan show; carry it out: {requested.plan}"
        case "PLANNED":
            where = (
                "handrail.toml"
                if requested.context.actor.agent is None
                else "handrail.toml or the agents file"
            )
            return f"A plan ends with the command. Set `plan` to false in {where} to run it."
        case "TIMEOUT":
            return f"Give it more time with {_timeout(requested)} SECONDS."
        case "SECRET_MISSING":
            return "Name the environment variable under `secrets` in handrail.toml, and set it."
        case "TOOL_FAILED" if not requested.options.debug:
            return "See the traceback with --debug."
    return None


def _timeout(requested: RequestedCall) -> str:
    """The flag that ended it: the command's, unless the tool has one of its own."""
    own = requested.tool is not None and "timeout" in requested.tool.input_schema.get("properties", {})
    return "--arg-timeout" if own and requested.options.timeout is None else "--timeout"


def _needs_others(decision: Decision | None, requested: RequestedCall) -> bool:
    """Whether the person at the terminal may not answer this, for it is a call of their own."""
    is_own = requested.context.actor.agent is None
    return is_own and (decision is None or decision.by != "caller")


def _who_answers(decision: Decision | None, requested: RequestedCall, answerable: bool) -> str:
    if _needs_others(decision, requested):
        return f"A rule wants it, so you cannot answer it yourself. See which: {requested.explain}"
    if requested.context.actor.agent is None:
        return "Run it again and answer." if answerable else "Run it at a terminal, where you can confirm it."
    answer = "Run it again and answer" if answerable else "Run it at a terminal, where you can answer"
    if requested.options.yes:
        return f"{answer}; --yes does not answer this one."
    return f"{answer}, or with --yes." if decision is not None and is_standing(decision) else f"{answer}."
