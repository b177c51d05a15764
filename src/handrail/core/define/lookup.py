"""ToolMatch: a tool that a search found. ToolDetails: one tool, and what a call would meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handrail.core.define.decision import Decision
from handrail.core.define.schema import provider_schema
from handrail.core.define.tool import Tool

EXACT_SCORE = 1.0
"""The score of a tool of exactly the name that was searched for."""
MAX_INEXACT_SCORE = 0.99
"""The largest score of any other."""


@dataclass(frozen=True, slots=True)
class ToolMatch:
    """A tool that a search found."""

    tool: Tool
    score: float
    """Above 0 and at most 1, which is a tool of exactly that name. It compares results of one search only."""
    matched: Mapping[str, tuple[str, ...]]
    """By part of the tool (name, alias, category, parameter, description, guidance) the words that it met;
    `meaning`, without words, where the embedder found it."""


@dataclass(frozen=True, slots=True)
class ToolDetails:
    """A tool as somebody may see it, and what the guard says to a call of theirs."""

    tool: Tool
    decision: Decision
    """What is certain before the arguments are known."""
    varies: bool
    """Whether the arguments can make it stricter."""

    def to_dict(self) -> dict[str, Any]:
        """All that one needs to call it, as JSON data; what there is none of is left out."""
        tool = self.tool
        told = {
            "name": tool.id,
            "title": tool.name,
            "category": tool.category,
            "description": tool.description,
            "guidance": tool.guidance,
            "aliases": list(tool.aliases),
            "level": tool.level,
            "danger": tool.danger,
            "parameters": provider_schema(tool.input_schema),
            "returns": tool.output_schema,
        }
        call = {"verdict": self.decision.verdict, "reason": self.decision.reason, "varies": self.varies}
        return {name: value for name, value in told.items() if value} | {"call": call}
