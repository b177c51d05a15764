"""Fitting: the tools of one workspace, with what stands around them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from handrail import Tool
from handrail.ext import Hook, SafetyCheck
from handrail.toolsets.workspace.desk import Workspace
from handrail.toolsets.workspace.options import Options


@dataclass(frozen=True, slots=True)
class Fitted:
    """A workspace ready for work."""

    tools: tuple[Tool, ...]
    named: dict[str, Tool]
    """By id and by every alias."""
    hooks: tuple[Hook, ...]
    safety: tuple[SafetyCheck, ...]
    close: Callable[[], None]


def fit(workspace: Workspace, options: Options) -> Fitted:
    """Everything there is for a workspace."""
    tools: tuple[Tool, ...] = ()
    named = {name: tool for tool in tools for name in tool.names}
    return Fitted(tools, named, (), (), workspace.close)
