"""Level, danger, capability and the like, and how a missing one follows from the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Level = Literal["read", "draft", "write", "destructive"]
Danger = Literal["safe", "moderate", "dangerous"]
Capability = Literal["read", "write", "execute", "network"]
PermissionPolicy = Literal["auto", "always_ask"]
Concurrency = Literal["parallel", "by_path", "sequential"]
Source = Literal["agent", "mcp", "job", "api", "web", "cli"]

LEVELS: tuple[Level, ...] = get_args(Level)
DANGERS: tuple[Danger, ...] = get_args(Danger)
CAPABILITIES: tuple[Capability, ...] = get_args(Capability)
POLICIES: tuple[PermissionPolicy, ...] = get_args(PermissionPolicy)
CONCURRENCIES: tuple[Concurrency, ...] = get_args(Concurrency)
SOURCES: tuple[Source, ...] = get_args(Source)

DEFAULT_LEVEL: Level = "write"

_DANGER_OF: dict[Level, Danger] = {
    "read": "safe",
    "draft": "safe",
    "write": "moderate",
    "destructive": "dangerous",
}
_LEVEL_OF: dict[Danger, Level] = {"safe": "read", "moderate": "write", "dangerous": "destructive"}
_LEVEL_NEEDED: dict[Capability, Level] = {
    "read": "read",
    "network": "read",
    "write": "write",
    "execute": "write",
}


@dataclass(frozen=True, slots=True)
class RiskAssessment:
    """What a tool's own danger or level function says of a call, and what about the call made it say so."""

    value: Danger | Level
    why: str
    """For whoever decides, with the part that decided: "`rm -rf build` deletes files recursively"."""


def danger_of(level: Level) -> Danger:
    """The danger a level stands for when the tool names none."""
    return _DANGER_OF[level]


def level_of(danger: Danger) -> Level:
    """The level a danger stands for when the tool names none."""
    return _LEVEL_OF[danger]


def level_for(capabilities: frozenset[Capability]) -> Level | None:
    """The level that required capabilities stand for, or None when there are none."""
    if not capabilities:
        return None
    return max((_LEVEL_NEEDED[name] for name in capabilities), key=LEVELS.index)
