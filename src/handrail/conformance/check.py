"""check: every rule over every tool."""

from __future__ import annotations

import inspect
import os
from collections.abc import Collection, Iterable, Mapping

from handrail.conformance.finding import Finding
from handrail.conformance.rule import Surroundings
from handrail.conformance.rules import RULES
from handrail.core.define.styles import initialised
from handrail.core.define.tool import InitContext, Tool
from handrail.core.errors import DefinitionError
from handrail.core.find.registry import as_tool, every_name

INTENTIONALLY_INPUT_LESS: frozenset[str] = frozenset({"getNavConfig"})
"""Names of well-known tools that take no input on purpose."""


def check(tools: Iterable[Tool], *, input_less: Collection[str] = INTENTIONALLY_INPUT_LESS) -> list[Finding]:
    """What the rules find about these tools, by tool and rule. Nothing found means conformant.

    `input_less` names tools that take no input on purpose. A tool that waits for its initialiser cannot be
    checked here and says so; see `check_ready`.
    """
    return _check(_each_once(tools), input_less, {})


async def check_ready(
    tools: Iterable[Tool],
    *,
    input_less: Collection[str] = INTENTIONALLY_INPUT_LESS,
    working_dir: str | None = None,
) -> list[Finding]:
    """The same, after running the initialisers of the tools that wait for one."""
    init = InitContext(working_dir or os.getcwd())
    failures: dict[str, str] = {}
    ready: list[Tool] = []
    for tool in _each_once(tools):
        try:
            ready.append(await _initialised(tool, init))
        except Exception as error:
            ready.append(tool)
            failures[tool.id] = error.problem if isinstance(error, DefinitionError) else repr(error)
    return _check(ready, input_less, failures)


async def _initialised(tool: Tool, init: InitContext) -> Tool:
    if tool.init is None:
        return tool
    definition = tool.init(init)
    ready = initialised(tool, await definition if inspect.isawaitable(definition) else definition)
    if ready.id != tool.id:
        raise DefinitionError(
            f"it returned {ready.id!r}", tool=tool.id, place=tool.place, remedy="keep the id"
        )
    return ready


def _each_once(tools: Iterable[Tool]) -> list[Tool]:
    """The tools, also of those who hand over a `BaseTool`."""
    return list({id(tool): tool for tool in map(as_tool, tools)}.values())


def _check(tools: list[Tool], input_less: Collection[str], failures: Mapping[str, str]) -> list[Finding]:
    holders: dict[str, list[Tool]] = {}
    for tool in tools:
        for name in every_name(tool):
            holders.setdefault(name, []).append(tool)
    around = Surroundings(holders, frozenset(input_less), failures)
    found = [
        Finding(tool.id, rule.slug, rule.level, message, remedy, str(tool.place) if tool.place else None)
        for tool in tools
        for rule in RULES
        if tool.ready or rule.early
        for message, remedy in rule.find(tool, around)
    ]
    return sorted(found, key=lambda finding: (finding.tool, finding.rule))
