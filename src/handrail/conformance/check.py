"""check: every rule over every tool, and the rules as a table."""

from __future__ import annotations

import inspect
import os
from collections.abc import Collection, Iterable, Iterator, Mapping

from handrail.conformance import schema_rules, text_rules
from handrail.conformance.rule import ConformanceRule, Finding, Problem, RuleContext, of_tool
from handrail.core.define.constructors import initialised
from handrail.core.define.tool import InitContext, Tool
from handrail.core.errors import DefinitionError
from handrail.core.find.registry import as_tool, every_name


def _not_initialised(tool: Tool, context: RuleContext) -> Iterator[Problem]:
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


RULES = (
    ConformanceRule(
        "output-schema",
        "CF-01",
        "error",
        "A tool written in code has an output schema.",
        of_tool(schema_rules.output_schema),
    ),
    ConformanceRule(
        "input-schema",
        "CF-01",
        "error",
        "Its parameters can be read from its input schema, unless it takes none on purpose.",
        schema_rules.input_schema,
    ),
    ConformanceRule(
        "top-level-union",
        "CF-03",
        "error",
        "Its input is one object, not a choice of several.",
        of_tool(schema_rules.top_level_union),
    ),
    ConformanceRule(
        "open-record",
        "CF-03",
        "error",
        "No part of its input takes any value under any name.",
        of_tool(schema_rules.open_record),
    ),
    ConformanceRule(
        "default",
        "IV-03",
        "error",
        "The defaults in its input schema are values that the schema takes.",
        of_tool(schema_rules.bad_default),
    ),
    ConformanceRule(
        "example",
        "CF-01",
        "error",
        "The examples in its input schema are values that the schema takes.",
        of_tool(schema_rules.bad_example),
    ),
    ConformanceRule(
        "name-collision",
        "NM-06",
        "error",
        "Its id, aliases, slug and wire names belong to no other tool.",
        text_rules.name_collision,
        early=True,
    ),
    ConformanceRule(
        "description-limit",
        "DS-01",
        "error",
        "Its description has at most 40 tokens.",
        of_tool(text_rules.description_too_long),
    ),
    ConformanceRule(
        "destructive-guidance",
        "DS-04",
        "error",
        "A destructive or dangerous tool has guidance.",
        of_tool(text_rules.destructive_without_guidance),
    ),
    ConformanceRule(
        "open-output",
        "TD-08",
        "warning",
        "Its output schema says something of its data.",
        of_tool(schema_rules.open_output),
    ),
    ConformanceRule(
        "parameter-description",
        "DS-03",
        "warning",
        "Every parameter is described at its field, nested ones too.",
        of_tool(schema_rules.undocumented_parameter),
    ),
    ConformanceRule(
        "scope-parameter",
        "IV-08",
        "warning",
        "It asks no caller for a tenant, an organisation or a user.",
        of_tool(schema_rules.scope_parameter),
    ),
    ConformanceRule(
        "name-style",
        "NM-01",
        "warning",
        "Its name keeps to one style, and is short enough for providers.",
        of_tool(text_rules.name_style),
        early=True,
    ),
    ConformanceRule(
        "description-length",
        "DS-01",
        "warning",
        "The description of a simple tool has 10 to 20 tokens, of a complex one 25 to 40, else 10 to 40.",
        of_tool(text_rules.description_length),
    ),
    ConformanceRule(
        "description-sentence",
        "DS-01",
        "warning",
        "The description of a simple tool is one sentence, of any other one or two.",
        of_tool(text_rules.too_many_sentences),
    ),
    ConformanceRule(
        "description-code",
        "DS-02",
        "warning",
        "Its description contains no code.",
        of_tool(text_rules.code_sample),
    ),
    ConformanceRule(
        "description-layout",
        "DS-02",
        "warning",
        "Its description does not lay out the response.",
        of_tool(text_rules.response_layout),
    ),
    ConformanceRule(
        "description-parameters",
        "DS-02",
        "warning",
        "Its description does not document parameters.",
        of_tool(text_rules.parameter_detail),
    ),
    ConformanceRule(
        "marketing",
        "DS-04",
        "warning",
        "Its texts instruct, and do not advertise.",
        of_tool(text_rules.marketing),
    ),
    ConformanceRule(
        "guidance",
        "DS-04",
        "warning",
        "A tool that changes something says when to use it, when not, and what safer one comes first.",
        of_tool(text_rules.incomplete_guidance),
    ),
    ConformanceRule(
        "not-initialised",
        "CF-06",
        "warning",
        "A tool with an initialiser could be initialised, and so be checked.",
        _not_initialised,
        early=True,
    ),
)


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
    found = [
        Finding(
            tool.id, rule.slug, rule.level, message, remedy, str(tool.location) if tool.location else None
        )
        for tool in tools
        for rule in RULES
        if tool.ready or rule.early
        for message, remedy in rule.find(tool, context)
    ]
    return sorted(found, key=lambda finding: (finding.tool, finding.rule))
