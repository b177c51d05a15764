"""Hints: what the person at the terminal can do next, as commands that run as they stand."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from handrail.core.define.call import Outcome
from handrail.core.define.tool import Tool
from handrail.core.guard.decide import is_standing
from handrail.doors.cli.flags import flags_of
from handrail.doors.cli.line import Options
from handrail.doors.cli.opening import Opened
from handrail.doors.cli.spelling import write_arguments


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for on a command line: one call, as far as it could be read."""

    opened: Opened
    name: str
    options: Options
    tool: Tool | None = None
    args: Mapping[str, Any] | None = None

    @property
    def tools(self) -> str:
        """The command that lists the tools."""
        return self.opened.command("tools")

    @property
    def flags(self) -> str:
        """The command that shows the flags of the tool."""
        return self.opened.command("run", self.name, then=["--help"])

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
            return self.opened.command(*words, self.name)
        flags = flags_of(self.tool, self.name)
        args = dict(self.args or {})
        secret = [flag.param for flag in flags if flag.secret and args.pop(flag.param, None) is not None]
        command = self.opened.command(*words, self.name, then=write_arguments(args, flags))
        return f"{command} (and {', '.join(secret)})" if secret else command


def as_it_ends(outcome: Outcome, asked: Asked, answerable: bool) -> Outcome:
    """An outcome in words that are true here: without a database, what waits ends with this command."""
    result = outcome.result
    if outcome.code == "PLANNED" and not asked.opened.lasting:
        said = f"{_title(asked, outcome)} was not run: plan mode holds it back."
        return replace(outcome, result=replace(result, summary=said, output=said))
    if outcome.code != "NEEDS_APPROVAL" or outcome.decision is None or asked.opened.lasting:
        return outcome
    if _wants_others(outcome, asked):
        why = "somebody else must agree, and nobody else can be asked here"
    else:
        why = "nobody answered" if answerable else "nobody could be asked here"
    said = f"{outcome.decision.reason}. It was not run: {why}."
    return replace(outcome, result=replace(result, summary="Not approved", error=said))


def _title(asked: Asked, outcome: Outcome) -> str:
    return asked.tool.name if asked.tool is not None else outcome.tool


def hint_of(outcome: Outcome, asked: Asked, answerable: bool) -> str | None:
    """What to do next; `answerable` says whether somebody sits at a terminal."""
    match outcome.code:
        case "NEEDS_APPROVAL" if asked.opened.lasting and outcome.approval_id is not None:
            return f"It goes on when somebody answers: handrail approvals approve {outcome.approval_id}"
        case "NEEDS_APPROVAL":
            return _who_answers(outcome, asked, answerable)
        case "TOOL_NOT_FOUND":
            return f"See which tools there are: {asked.tools}"
        case "NOT_PERMITTED":
            return f"See why: {asked.explain}"
        case "MISSING_PARAM" | "INVALID_PARAM":
            return f"See its flags: {asked.flags}"
        case "PLANNED" if asked.opened.lasting:
            return f"See the plan: handrail plan show; carry it out: {asked.plan}"
        case "PLANNED":
            where = (
                "handrail.toml" if asked.opened.acting.agent is None else "handrail.toml or the agents file"
            )
            return f"A plan ends with the command. Set `plan` to false in {where} to run it."
        case "TIMEOUT":
            return f"Give it more time with {_timeout(asked)} SECONDS."
        case "SECRET_MISSING":
            return "Name the environment variable under `secrets` in handrail.toml, and set it."
        case "TOOL_FAILED" if not asked.options.debug:
            return "See the traceback with --debug."
    return None


def _timeout(asked: Asked) -> str:
    """The flag that ended it: the command's, unless the tool has one of its own."""
    own = asked.tool is not None and "timeout" in asked.tool.input_schema.get("properties", {})
    return "--arg-timeout" if own and asked.options.timeout is None else "--timeout"


def _wants_others(outcome: Outcome, asked: Asked) -> bool:
    """Whether the person at the terminal may not answer this, for it is a call of their own."""
    assert outcome.decision is not None
    return asked.opened.acting.agent is None and outcome.decision.by != "caller"


def _who_answers(outcome: Outcome, asked: Asked, answerable: bool) -> str:
    assert outcome.decision is not None
    if _wants_others(outcome, asked):
        return f"A rule wants it, so you cannot answer it yourself. See which: {asked.explain}"
    if asked.opened.acting.agent is None:
        return "Run it again and answer." if answerable else "Run it at a terminal, where you can confirm it."
    answer = "Run it again and answer" if answerable else "Run it at a terminal, where you can answer"
    if asked.options.yes:
        return f"{answer}; --yes does not answer this one."
    return f"{answer}, or with --yes." if is_standing(outcome.decision) else f"{answer}."
