"""Rules about descriptions: short enough for a list, and about what the tool does.

They read prose, so all but the one about the upper bound are warnings: a program can be wrong about a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from handrail.conformance.prose import sentences, tokens
from handrail.conformance.rule import Problem
from handrail.conformance.walk import parts
from handrail.core.define.schema import provider_schema
from handrail.core.define.tool import Tool

Size = Literal["simple", "complex", "between"]

MOST = 40
RANGES: dict[Size, tuple[int, int]] = {"simple": (10, 20), "complex": (25, MOST), "between": (10, MOST)}
"""How many tokens a description has."""
_FEW, _MANY = 3, 8
"""How many parameters a simple tool has at most, and beyond how many every tool is complex."""

_CODE = re.compile(
    r"```|>>>|=>|</\w+>|^\s*(?:import|def|curl)\s|\w\([^()]*[\"'=][^()]*\)|[{\[]\s*[\"']", re.MULTILINE
)
_LAYOUT = re.compile(
    r"\b(?:returns?|responds? with|outputs?|yields?|gives? back)\b[^.]{0,30}?"
    r"(?:\{|\bJSON (?:object|array)|\b(?:object|dict|dictionary|array|tuple) (?:of|with|containing)\b"
    r"|\bthe (?:fields|keys)\b|\b(?:fields|keys):)|\b(?:response|output)(?: format| layout)?:",
    re.IGNORECASE,
)
_PARAMETERS = re.compile(r"\b(?:args|arguments|parameters|params):", re.IGNORECASE)
_KIND = "str|string|text|int|integer|number|float|bool|boolean|list|array|object|optional|required|default"
_MARKETING = re.compile(
    r"\b(?:powerful|amazing(?:ly)?|awesome|incredibl[ey]|seamless(?:ly)?|effortless(?:ly)?|delightful|stunning"
    r"|revolutionary|innovative|unparalleled|unrivall?ed|unmatched|supercharged?|unleash(?:es)?|empowers?"
    r"|blazing(?:ly)?|lightning[- ]fast|cutting[- ]edge|state[- ]of[- ]the[- ]art|game[- ]chang\w+"
    r"|next[- ]gen(?:eration)?|(?:world|best)[- ](?:in[- ])?class|enterprise[- ]grade|intuitive(?:ly)?)\b",
    re.IGNORECASE,
)


def size(tool: Tool) -> Size:
    """How much there is to say of a tool.

    Simple: it changes nothing, is safe, and takes few parameters. Complex: it is destructive or dangerous, or
    takes many. What lies between may be told in the way of either.
    """
    declared = sum(len(part.node.get("properties") or ()) for part in parts(tool.input_schema))
    if tool.level == "destructive" or tool.danger == "dangerous" or declared > _MANY:
        return "complex"
    return "simple" if tool.quiet and tool.danger == "safe" and declared <= _FEW else "between"


def too_long(tool: Tool) -> Iterator[Problem]:
    if (count := tokens(tool.description)) > MOST:
        yield (
            f"its description has {count} tokens; lists and menus hold {MOST}",
            "keep what it does; the rest is guidance, such as the further paragraphs of a docstring",
        )


def length(tool: Tool) -> Iterator[Problem]:
    kind, count = size(tool), tokens(tool.description)
    least, most = RANGES[kind]
    which = "" if kind == "between" else f"{kind} "
    if count < least:
        more = "what constrains it, what must hold beforehand" if kind == "complex" else "to what"
        yield (
            f"its description has {count} tokens; a {which}tool is told in {least} to {most}",
            f"say what it does and {more}",
        )
    elif most < count <= MOST:
        yield (
            f"its description has {count} tokens; a {which}tool is told in {least} to {most}",
            "say in one sentence what it does; the rest is guidance",
        )


def one_sentence(tool: Tool) -> Iterator[Problem]:
    most = 1 if size(tool) == "simple" else 2
    if (count := sentences(tool.description)) > most:
        allowed = "one sentence" if most == 1 else "one or two"
        yield (
            f"its description has {count} sentences; {allowed} will do here",
            "keep what it does, and move the rest into guidance",
        )


def code_sample(tool: Tool) -> Iterator[Problem]:
    if found := _CODE.search(tool.description):
        yield (
            f"its description contains code: {_quoted(found)}",
            "leave it out; examples of values belong to the parameter's own field",
        )


def response_layout(tool: Tool) -> Iterator[Problem]:
    if found := _LAYOUT.search(tool.description):
        yield (
            f"its description lays out the response: {_quoted(found)}",
            "leave it to the output schema, and say what the answer is about",
        )


def parameter_detail(tool: Tool) -> Iterator[Problem]:
    """An everyday word may be mentioned, and be a parameter; it is detail when it reads like an entry."""
    found = _PARAMETERS.search(tool.description)
    names = map(str, provider_schema(tool.input_schema)["properties"])
    for name in () if found else names:
        word = re.escape(name)
        entry = rf"[`'\"]{word}[`'\"]|\b{word}\s*[:=]|\b{word}\s+\((?:{_KIND})\b|\b{word} (?:param|arg)"
        compound = "_" in name or name != name.lower()
        if found := re.search(rf"{entry}|\b{word}\b" if compound else entry, tool.description):
            break
    if found:
        yield (
            f"its description documents a parameter: {_quoted(found)}",
            "say it at the field of the parameter instead",
        )


def marketing(tool: Tool) -> Iterator[Problem]:
    if found := _MARKETING.search(f"{tool.description}\n{tool.guidance}"):
        yield (
            f"it praises itself: {_quoted(found)}",
            "say what it does and when it fits; whoever reads it has no choice of vendor",
        )


def _quoted(found: re.Match[str]) -> str:
    return f"“{found[0].strip()}”"
