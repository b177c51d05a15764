"""RegistryEvent: what happens to tools themselves, outside any session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from handrail.core.define.result import Result
from handrail.core.define.tool import Tool


@dataclass(frozen=True, slots=True)
class RegistryEvent:
    """What registry listeners hear: a tool came, went, ran or failed."""

    type: Literal["register", "unregister", "execute", "error"]
    tool: str
    definition: Tool | None = None
    replaced: Tool | None = None
    result: Result | None = None
