"""check: every rule over every tool, and the rules as a table."""

from __future__ import annotations

import inspect
import os
from collections.abc import Collection, Iterable, Iterator, Mapping

from handrail.conformance import schema_rules, text_rules
from handrail.conformance.rule import ConformanceRule, Finding, Problem, RuleContext, context_rule
from handrail.core.define.constructors import initialised
from handrail.core.define.tool import InitContext, Tool
from handrail.core.errors import DefinitionError
from handrail.core.find.registry import as_tool, every_name


@context_rule("not-initialised", "CF-06", "warning", early=True)
def _not_initialised(tool: Tool, context: RuleContext) -> Iterator[Problem]:
    """A tool with an initialiser could be initialised, and so be checked."""
    if tool.ready:
        return
    if tool.id in context.failures:
        yield (
            f"it could not be checked, since its initialiser failed: {context.failures[tool.id]}",
            "let the initialiser return the definition, here as well",
        )
    else:
        yield (
            "it could not be checked: it waits for its initialiser, and only its names are known",
            "use `await check_ready(...)`, which initialises it first",
        )


RULES: tuple[ConformanceRule, ...] = (
    schema_rules.output_schema,
    schema_rules.input_schema,
    schema_rules.top_level_union,
    schema_rules.open_record,
    schema_rules.bad_default,
    schema_rules.bad_example,
    text_rules.name_collision,
    text_rules.description_too_long,
    text_rules.destructive_without_guidance,
    schema_rules.open_output,
    schema_rules.undocumented_parameter,
    schema_rules.scope_parameter,
    text_rules.name_style,
    text_rules.description_length,
    text_rules.too_many_sentences,
    text_rules.code_sample,
    text_rules.response_layout,
    text_rules.parameter_detail,
    text_rules.marketing,
    text_rules.incomplete_guidance,
    _not_initialised,
)
"""As docs/conformance.md lists them: errors, then warnings."""


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
            f"it returned {ready.id!r}", tool=tool.id, location=tool.location, remedy="keep the id"
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
    context = RuleContext(holders, frozenset(input_less), failures)
    findings = [
        Finding(
            tool.id, rule.slug, rule.level, message, remedy, str(tool.location) if tool.location else None
        )
        for tool in tools
        for rule in RULES
        if tool.ready or rule.early
        for message, remedy in rule.find(tool, context)
    ]
    return sorted(findings, key=lambda finding: (finding.tool, finding.rule))
