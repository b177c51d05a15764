"""The approver at the terminal: a call that needs a person's yes, answered at the terminal."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
import termios
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from handrail.core.define.levels import Danger, Level
from handrail.core.define.tool import Tool
from handrail.core.guard.admit import Admitted, admit
from handrail.core.guard.approval_request import ApprovalRequest, Reply, approve, reject
from handrail.core.guard.decide import is_standing
from handrail.core.guard.risk import level_and_danger
from handrail.data_files import DataFileError, parse_json
from handrail.doors.cli.arguments import parse_flags
from handrail.doors.cli.context import Actor, describe_agent
from handrail.doors.cli.exit_codes import CommandError
from handrail.doors.cli.flags import Flags, flags_of
from handrail.doors.cli.output import describe_repair, show_text
from handrail.doors.cli.screen import OutputStream
from handrail.platform.display_text import one_line, visible_json, visible_json_lines

_CHOICES = "[a]pprove / [r]eject / [e]dit: "
_HOW_TO_EDIT = (
    "Write flags as on the command line, or all arguments as JSON; nothing leaves them as they are."
)


@dataclass(slots=True)
class ApprovalCard:
    """What the person is asked about: exactly what will run."""

    request: ApprovalRequest
    args: dict[str, Any]
    level: Level
    danger: Danger
    edited: bool = False


@dataclass(slots=True)
class TerminalInput:
    """Lines typed by a person. Waiting for one is an await, so that Ctrl-C reaches the call meanwhile."""

    side: OutputStream
    number: int = 0
    """The file descriptor to read from."""
    _typed: bytes = field(default=b"", init=False)

    @property
    def is_interactive(self) -> bool:
        """Whether a person can read and type here."""
        return os.isatty(self.number) and self.side.is_terminal

    def forget_typed(self) -> None:
        """What was typed before a question was seen is no answer to it."""
        self._typed = b""
        with suppress(termios.error):
            termios.tcflush(self.number, termios.TCIFLUSH)

    async def line(self, question: str) -> str | None:
        """What was typed, or None when the input has ended."""
        self.side.stream.write(question)
        self.side.flush()
        while b"\n" not in self._typed:
            piece = await self._piece()
            if not piece:
                return None
            self._typed += piece
        line, _, self._typed = self._typed.partition(b"\n")
        return line.decode(sys.stdin.encoding or "utf-8", "surrogateescape").strip()

    async def _piece(self) -> bytes:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self.number, _wake, ready)
        try:
            await ready
        finally:
            loop.remove_reader(self.number)
        return os.read(self.number, 65_536)


def _wake(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


@dataclass(slots=True)
class TerminalApprover:
    """The approver of a command at the terminal. With which tool it acts is set once that is known."""

    terminal: TerminalInput
    actor: Actor
    tool: Tool | None = None
    yes: bool = False
    """`--yes`: ordinary writes of an agent are answered at once; never what is destructive, dangerous or
    `always_ask`, and never what a rule asks for."""
    _asked: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    """One question at a time: a body may make several calls at once."""

    async def __call__(self, request: ApprovalRequest) -> Reply | None:
        person = self.actor.person
        if self.yes and is_standing(request.decision):
            return approve(by=person)
        # The person reviews what an agent wants; a call of their own they can confirm and no more.
        answerable = self.actor.agent is not None or request.by == "caller"
        if not answerable or not self.terminal.is_interactive:
            return None
        async with self._asked:
            self.terminal.forget_typed()
            return await self._answer(request, person)

    async def _answer(self, request: ApprovalRequest, person: str) -> Reply | None:
        card = ApprovalCard(request, dict(request.args), request.level, request.danger)
        self._show(card)
        while True:
            answer = await self.terminal.line(_CHOICES)
            match (answer or "").lower():
                case "a" | "approve":
                    return approve(by=person, edits=card.args if card.edited else None)
                case "r" | "reject":
                    reason = await self.terminal.line("Why? (nothing for no reason): ")
                    return reject(reason or None, by=person)
                case "e" | "edit":
                    card = await self._edited(card)
                case _:
                    if answer is None:
                        return None
                    self.terminal.side.say("Type a, r or e; Ctrl-C cancels the call.")

    def _show(self, card: ApprovalCard) -> None:
        side, request = self.terminal.side, card.request
        agent = request.principal.agent
        wants = f"{describe_agent(agent)} wants" if agent else "You want"
        side.say(f"\n{wants} to run {request.tool}", "bold")
        if self.tool is not None and request.tool == self.tool.id:
            side.say(f"  {one_line(self.tool.description)}")
        side.say(f"  level   {card.level}\n  danger  {card.danger}\n  why     {one_line(request.reason)}")
        side.say("  with" if card.args else "  with no arguments")
        for name, value in card.args.items():
            side.line(f"    {visible_json(name)[1:-1]} = {visible_json_lines(value, ' ' * 6)}")
        for repair in request.repairs:
            side.say(f"  {describe_repair(repair)}", "yellow")
        if request.preview and not card.edited:
            side.say("  would change")
            show_text(side, request.preview)
        side.say()

    async def _edited(self, card: ApprovalCard) -> ApprovalCard:
        """The card with other arguments, checked like any others; or as it was."""
        side = self.terminal.side
        tool = self.tool
        if tool is None or tool.id != card.request.tool:
            side.say("A call inside another cannot be edited here.")
            return card
        side.say(_HOW_TO_EDIT)
        line = await self.terminal.line("> ")
        if not line:
            return card
        try:
            args = _changed(line, card.args, flags_of(tool))
        except (CommandError, DataFileError) as error:
            side.say(f"{error.problem}. {error.remedy or ''}", "red")
            return card
        checked = admit(tool, args)
        if not isinstance(checked, Admitted):
            side.say("; ".join(str(error) for error in checked), "red")
            return card
        level, danger = level_and_danger(tool, checked.values)
        changed = ApprovalCard(card.request, args, level, danger, edited=True)
        self._show(changed)
        return changed


def _changed(line: str, args: Mapping[str, Any], flags: Flags) -> dict[str, Any]:
    if line.startswith("{"):
        arguments: dict[str, Any] = parse_json(line, "the arguments")  # a JSON text with { is an object
        return arguments
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise CommandError(f"a quote is left open ({error})", "close it") from None
    return {**args, **_arguments(words, flags)}


def _arguments(words: list[str], flags: Flags) -> dict[str, Any]:
    args, options = parse_flags(words, flags)
    if options:
        raise CommandError(
            f"--{next(iter(options))} is no flag of the tool", "only its arguments can be changed here"
        )
    return args
