"""Level and danger of one very call, and why the tool says so."""

from __future__ import annotations

from typing import Any, NamedTuple

from handrail.core.define.levels import DANGERS, LEVELS, Danger, Level, RiskAssessment, danger_of, level_of
from handrail.core.define.tool import OfArgs, Tool

_EFFECTS = frozenset({"write", "destructive"})
_LONGEST = 300


class Risk(NamedTuple):
    """Level and danger of a call, each with the tool's own reason where it gave one."""

    level: Level
    danger: Danger
    level_why: str = ""
    danger_why: str = ""

    @property
    def explained(self) -> bool:
        """Whether the reasons are those of this very call."""
        return bool(self.level_why or self.danger_why)


def assess_risk(tool: Tool, args: Any) -> Risk:
    """What the tool says of this very call.

    Where the tool computes its danger, that decides the level too. A computed level brings its own danger,
    unless the tool declares one that its static level does not stand for.
    """
    level, danger = tool.level, tool.danger
    level_why = danger_why = ""
    if tool.danger_of_call is not None:
        danger, danger_why = _assess_axis(tool, "danger", tool.danger_of_call, args, DANGERS)
        level, level_why = level_of(danger), danger_why
    if tool.level_of_call is not None:
        level, level_why = _assess_axis(tool, "level", tool.level_of_call, args, LEVELS)
        if tool.danger_of_call is None and tool.danger == danger_of(tool.level):
            danger, danger_why = danger_of(level), level_why
    return Risk(level, danger, level_why, danger_why)


def _assess_axis(
    tool: Tool, what: str, function: OfArgs, args: Any, allowed: tuple[str, ...]
) -> tuple[Any, str]:
    answer = function(args)
    value, why = answer, ""
    if isinstance(answer, RiskAssessment):
        value, why = answer.value, answer.why
        if not isinstance(why, str):
            raise TypeError(f"the {what} function of {tool.id} gave {why!r} as a reason, which is no text")
        why = " ".join(why.split()).removesuffix(".")
        if len(why) > _LONGEST:
            why = f"{why[:_LONGEST]}…"
    if value not in allowed:
        raise ValueError(f"the {what} function of {tool.id} said {value!r}, which is no {what}")
    return value, why


def level_and_danger(tool: Tool, args: Any) -> tuple[Level, Danger]:
    """Level and danger of this very call."""
    judged = assess_risk(tool, args)
    return judged.level, judged.danger


def is_dynamic(tool: Tool) -> bool:
    """Whether level or danger depend on the arguments."""
    return tool.level_of_call is not None or tool.danger_of_call is not None


def is_effectful(tool: Tool, values: Any, keyed: bool = False) -> bool:
    """Whether this very call may change something. Under an idempotency key a draft counts, too."""
    if tool.level_of_call is None and tool.danger_of_call is None:
        level = tool.level
    else:
        level = assess_risk(tool, values).level
    return level in _EFFECTS or (keyed and level == "draft")


def is_repeatable(tool: Tool, values: Any, keyed: bool = False) -> bool:
    """Whether it may be made again though nobody knows how it ended: it only reads, or twice is as once."""
    return tool.idempotent or not is_effectful(tool, values, keyed)
