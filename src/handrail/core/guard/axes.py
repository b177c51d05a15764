"""Axes: level and danger of one very call, and why the tool says so."""

from __future__ import annotations

from typing import Any, NamedTuple

from handrail.core.define.permission import DANGERS, LEVELS, Danger, Judged, Level, danger_of, level_of
from handrail.core.define.tool import OfArgs, Tool

_EFFECTS = frozenset({"write", "destructive"})
_LONGEST = 300


class Judgement(NamedTuple):
    """Level and danger of a call, each with the tool's own reason where it gave one."""

    level: Level
    danger: Danger
    level_why: str = ""
    danger_why: str = ""

    @property
    def explained(self) -> bool:
        """Whether the reasons are those of this very call."""
        return bool(self.level_why or self.danger_why)


def judge(tool: Tool, args: Any) -> Judgement:
    """What the tool says of this very call.

    Where the tool computes its danger, that decides the level too. A computed level brings its own danger,
    unless the tool declares one that its static level does not stand for.
    """
    level, danger = tool.level, tool.danger
    level_why = danger_why = ""
    if tool.danger_of_call is not None:
        danger, danger_why = _said(tool, "danger", tool.danger_of_call, args, DANGERS)
        level, level_why = level_of(danger), danger_why
    if tool.level_of_call is not None:
        level, level_why = _said(tool, "level", tool.level_of_call, args, LEVELS)
        if tool.danger_of_call is None and tool.danger == danger_of(tool.level):
            danger, danger_why = danger_of(level), level_why
    return Judgement(level, danger, level_why, danger_why)


def _said(tool: Tool, what: str, function: OfArgs, args: Any, known: tuple[str, ...]) -> tuple[Any, str]:
    given = function(args)
    said, why = given, ""
    if isinstance(given, Judged):
        said, why = given.value, given.why
        if not isinstance(why, str):
            raise TypeError(f"the {what} function of {tool.id} gave {why!r} as a reason, which is no text")
        why = " ".join(why.split()).removesuffix(".")
        if len(why) > _LONGEST:
            why = f"{why[:_LONGEST]}…"
    if said not in known:
        raise ValueError(f"the {what} function of {tool.id} said {said!r}, which is no {what}")
    return said, why


def axes(tool: Tool, args: Any) -> tuple[Level, Danger]:
    """Level and danger of this very call."""
    judged = judge(tool, args)
    return judged.level, judged.danger


def is_dynamic(tool: Tool) -> bool:
    """Whether level or danger depend on the arguments."""
    return tool.level_of_call is not None or tool.danger_of_call is not None


def is_effectful(tool: Tool, values: Any) -> bool:
    """Whether this very call may change something."""
    if tool.level_of_call is None and tool.danger_of_call is None:
        return tool.level in _EFFECTS
    return judge(tool, values).level in _EFFECTS
