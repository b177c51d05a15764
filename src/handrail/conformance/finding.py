"""Finding: what conformance has to say about one tool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule that a tool does not keep, and what to do about it."""

    tool: str
    """The tool's id."""
    rule: str
    """The rule's slug, such as `output-schema`."""
    level: Level
    message: str
    remedy: str
    where: str | None = None
    """The file and line where the tool was written, if they are known."""

    def __str__(self) -> str:
        head = self.tool if self.where is None else f"{self.where}: {self.tool}"
        return f"{head}: {self.level} {self.rule}: {self.message}\n  remedy: {self.remedy}"
