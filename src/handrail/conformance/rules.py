"""The rules, as a table.

An error is certain, and costs somebody a call: a provider refuses the schema, a client cannot check the
answer, a default is filled in that is not valid, two tools cannot stand side by side, a list overflows,
something is destroyed that a safer tool would have spared. A warning makes a tool harder to choose or to use
well, or is a reading of prose, where a program can be wrong.
"""

from __future__ import annotations

from collections.abc import Iterator

from handrail.conformance import guidance_rules, name_rules, schema_rules, text_rules, value_rules
from handrail.conformance.rule import ConformanceRule, Problem, Surroundings, alone
from handrail.core.define.tool import Tool


def _not_initialised(tool: Tool, around: Surroundings) -> Iterator[Problem]:
    if tool.ready:
        return
    if tool.id in around.failures:
        yield (
            f"it could not be checked, since its initialiser failed: {around.failures[tool.id]}",
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
        alone(schema_rules.output_schema),
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
        alone(schema_rules.top_level_union),
    ),
    ConformanceRule(
        "open-record",
        "CF-03",
        "error",
        "No part of its input takes any value under any name.",
        alone(schema_rules.open_record),
    ),
    ConformanceRule(
        "default",
        "IV-03",
        "error",
        "The defaults in its input schema are values that the schema takes.",
        alone(value_rules.bad_default),
    ),
    ConformanceRule(
        "example",
        "CF-01",
        "error",
        "The examples in its input schema are values that the schema takes.",
        alone(value_rules.bad_example),
    ),
    ConformanceRule(
        "name-collision",
        "NM-06",
        "error",
        "Its id, aliases, slug and wire names belong to no other tool.",
        name_rules.collision,
        early=True,
    ),
    ConformanceRule(
        "description-limit",
        "DS-01",
        "error",
        "Its description has at most 40 tokens.",
        alone(text_rules.too_long),
    ),
    ConformanceRule(
        "destructive-guidance",
        "DS-04",
        "error",
        "A destructive or dangerous tool has guidance.",
        alone(guidance_rules.destructive_without),
    ),
    ConformanceRule(
        "open-output",
        "TD-08",
        "warning",
        "Its output schema says something of its data.",
        alone(schema_rules.open_output),
    ),
    ConformanceRule(
        "parameter-description",
        "DS-03",
        "warning",
        "Every parameter is described at its field, nested ones too.",
        alone(schema_rules.undocumented),
    ),
    ConformanceRule(
        "scope-parameter",
        "IV-08",
        "warning",
        "It asks no caller for a tenant, an organisation or a user.",
        alone(schema_rules.scope_parameter),
    ),
    ConformanceRule(
        "name-style",
        "NM-01",
        "warning",
        "Its name keeps to one style, and is short enough for providers.",
        alone(name_rules.style),
        early=True,
    ),
    ConformanceRule(
        "description-length",
        "DS-01",
        "warning",
        "The description of a simple tool has 10 to 20 tokens, of a complex one 25 to 40, else 10 to 40.",
        alone(text_rules.length),
    ),
    ConformanceRule(
        "description-sentence",
        "DS-01",
        "warning",
        "The description of a simple tool is one sentence, of any other one or two.",
        alone(text_rules.one_sentence),
    ),
    ConformanceRule(
        "description-code",
        "DS-02",
        "warning",
        "Its description contains no code.",
        alone(text_rules.code_sample),
    ),
    ConformanceRule(
        "description-layout",
        "DS-02",
        "warning",
        "Its description does not lay out the response.",
        alone(text_rules.response_layout),
    ),
    ConformanceRule(
        "description-parameters",
        "DS-02",
        "warning",
        "Its description does not document parameters.",
        alone(text_rules.parameter_detail),
    ),
    ConformanceRule(
        "marketing",
        "DS-04",
        "warning",
        "Its texts instruct, and do not advertise.",
        alone(text_rules.marketing),
    ),
    ConformanceRule(
        "guidance",
        "DS-04",
        "warning",
        "A tool that changes something says when to use it, when not, and what safer one comes first.",
        alone(guidance_rules.incomplete),
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
