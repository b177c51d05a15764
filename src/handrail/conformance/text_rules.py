"""Rules about names, descriptions and guidance; most read prose, and are warnings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from handrail.conformance.rule import Problem, RuleContext, context_rule, rule
from handrail.conformance.schema_parts import schema_parts
from handrail.core.define.names import WIRE_LIMIT, wire_name
from handrail.core.define.schema import provider_schema
from handrail.core.define.tool import Tool
from handrail.core.find.registry import every_name

DescriptionSize = Literal["simple", "complex", "between"]
MAX_TOKENS = 40

TOKEN_RANGES: dict[DescriptionSize, tuple[int, int]] = {
    "simple": (10, 20),
    "complex": (25, MAX_TOKENS),
    "between": (10, MAX_TOKENS),
}
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


def description_size(tool: Tool) -> DescriptionSize:
    """How much there is to say of a tool.

    Simple: it changes nothing, is safe, and takes few parameters. Complex: it is destructive or dangerous, or
    takes many. What lies between may be told in the way of either.
    """
    declared = sum(len(part.node.get("properties") or ()) for part in schema_parts(tool.input_schema))
    if tool.level == "destructive" or tool.danger == "dangerous" or declared > _MANY:
        return "complex"
    return "simple" if tool.quiet and tool.danger == "safe" and declared <= _FEW else "between"


@rule("description-limit", "DS-01", "error")
def description_too_long(tool: Tool) -> Iterator[Problem]:
    """Its description has at most 40 tokens."""
    if (count := count_tokens(tool.description)) > MAX_TOKENS:
        yield (
            f"its description has {count} tokens; lists and menus hold {MAX_TOKENS}",
            "keep what it does; the rest is guidance, such as the further paragraphs of a docstring",
        )


@rule("description-length", "DS-01", "warning")
def description_length(tool: Tool) -> Iterator[Problem]:
    """The description of a simple tool has 10 to 20 tokens, of a complex one 25 to 40, else 10 to 40."""
    kind, count = description_size(tool), count_tokens(tool.description)
    least, most = TOKEN_RANGES[kind]
    which = "" if kind == "between" else f"{kind} "
    if count < least:
        more = "what constrains it, what must hold beforehand" if kind == "complex" else "to what"
        yield (
            f"its description has {count} tokens; a {which}tool is told in {least} to {most}",
            f"say what it does and {more}",
        )
    elif most < count <= MAX_TOKENS:
        yield (
            f"its description has {count} tokens; a {which}tool is told in {least} to {most}",
            "say in one sentence what it does; the rest is guidance",
        )


@rule("description-sentence", "DS-01", "warning")
def too_many_sentences(tool: Tool) -> Iterator[Problem]:
    """The description of a simple tool is one sentence, of any other one or two."""
    most = 1 if description_size(tool) == "simple" else 2
    if (count := count_sentences(tool.description)) > most:
        allowed = "one sentence" if most == 1 else "one or two"
        yield (
            f"its description has {count} sentences; {allowed} will do here",
            "keep what it does, and move the rest into guidance",
        )


@rule("description-code", "DS-02", "warning")
def code_sample(tool: Tool) -> Iterator[Problem]:
    """Its description contains no code."""
    if match := _CODE.search(tool.description):
        yield (
            f"its description contains code: {_quoted(match)}",
            "leave it out; examples of values belong to the parameter's own field",
        )


@rule("description-layout", "DS-02", "warning")
def response_layout(tool: Tool) -> Iterator[Problem]:
    """Its description does not lay out the response."""
    if match := _LAYOUT.search(tool.description):
        yield (
            f"its description lays out the response: {_quoted(match)}",
            "leave it to the output schema, and say what the answer is about",
        )


@rule("description-parameters", "DS-02", "warning")
def parameter_detail(tool: Tool) -> Iterator[Problem]:
    """Its description does not document parameters.

    An everyday word may be mentioned, and be a parameter; it is detail when it reads like an entry.
    """
    match = _PARAMETERS.search(tool.description)
    names = map(str, provider_schema(tool.input_schema)["properties"])
    for name in () if match else names:
        word = re.escape(name)
        entry = rf"[`'\"]{word}[`'\"]|\b{word}\s*[:=]|\b{word}\s+\((?:{_KIND})\b|\b{word} (?:param|arg)"
        compound = "_" in name or name != name.lower()
        if match := re.search(rf"{entry}|\b{word}\b" if compound else entry, tool.description):
            break
    if match:
        yield (
            f"its description documents a parameter: {_quoted(match)}",
            "say it at the field of the parameter instead",
        )


@rule("marketing", "DS-04", "warning")
def marketing(tool: Tool) -> Iterator[Problem]:
    """Its texts instruct, and do not advertise."""
    if match := _MARKETING.search(f"{tool.description}\n{tool.guidance}"):
        yield (
            f"it praises itself: {_quoted(match)}",
            "say what it does and when it fits; whoever reads it has no choice of vendor",
        )


def _quoted(match: re.Match[str]) -> str:
    return f"“{match[0].strip()}”"


_CJK = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]|[^\W{_CJK}]{{1,10}}|[^\w\s]")
_END = re.compile(r"(?P<word>\w*)[.!?]+[\"')\]]*\s+(?=(?P<next>\S))|。(?=.)")
_ABBREVIATIONS = frozenset("e g i etc vs cf no approx incl resp dr mr ms st".split())


def count_tokens(text: str) -> int:
    """About as many tokens as a model reads.

    A word is one for each ten letters begun; a mark of punctuation is one, and so is a Chinese, Japanese or
    Korean character. It needs no model's own tables, and one text has one length.
    """
    return len(_TOKEN.findall(text))


def count_sentences(text: str) -> int:
    """How many sentences a text has. What begins with a small letter goes on with the one before."""
    ends = (match for match in _END.finditer(text.strip()) if _is_end(match))
    return 1 + sum(1 for _ in ends) if text.strip() else 0


def _is_end(match: re.Match[str]) -> bool:
    if match["next"] is None:
        return True
    return not match["next"].islower() and match["word"].lower() not in _ABBREVIATIONS


_HUMP = re.compile(r"[a-z0-9][A-Z]")


@rule("name-style", "NM-01", "warning", early=True)
def name_style(tool: Tool) -> Iterator[Problem]:
    """Its name keeps to one style, and is short enough for providers.

    Every style of writing names is fine; what is not is a name that reads differently on the wire.
    """
    wire = wire_name(tool.id)
    if len(wire) < len(tool.id.replace(".", "__")):
        yield (
            f"its name has more than the {WIRE_LIMIT} characters that providers take; models see {wire}",
            "give it a shorter id; the old one can stay as an alias",
        )
    if "__" in tool.id:
        yield (
            f"{tool.id!r} contains `__`, which is how a dot is written for providers",
            "use a dot, or a single `_`",
        )
    for word in tool.id.split("."):
        styles = [name for name, is_so in _styles(word) if is_so]
        if len(styles) > 1:
            yield (
                f"{word!r} mixes {' and '.join(styles)}, which is hard to write from memory",
                "keep to one style, such as `category.actionTarget`",
            )


def _styles(word: str) -> Iterator[tuple[str, bool]]:
    yield "snake_case", "_" in word.strip("_")
    yield "kebab-case", "-" in word
    yield "camelCase", _HUMP.search(word) is not None


@context_rule("name-collision", "NM-06", "error", early=True)
def name_collision(tool: Tool, context: RuleContext) -> Iterator[Problem]:
    """Its id, aliases, slug and wire names belong to no other tool.

    One registry refuses the second of them.
    """
    for name in every_name(tool):
        other = next((holder for holder in context.holders.get(name, ()) if holder is not tool), None)
        if other is not None:
            where = f" at {other.location}" if other.location else ""
            yield (
                f"{name!r} is also a name of {other.id!r}{where}; no registry can hold both",
                "choose another id, alias or slug",
            )
            return


_GUIDANCE_PARTS = {
    "when to use it": r"use[ds]?|call|run|choose|pick|when|whenever|if|once|after|before|for",
    "when not to": r"not|never|no|none|nothing|nor|only|unless|except|avoid|instead|rather|without|outside|"
    r"cannot|(?:do|does|is|are|ca|wo)n['’]t",
    "what cheaper or safer tool comes first": r"first|before|beforehand|instead|rather|prefer|try|cheaper|"
    r"safer|preview|dry run|start with|[a-z_]\w*\.[A-Za-z]\w+|`[^`]+`",
}
_GUIDANCE_PATTERNS = {
    part: re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE) for part, words in _GUIDANCE_PARTS.items()
}

_GUIDANCE_REMEDY = (
    "write it in the paragraphs after the first of the docstring, in `guidance`, or in `<tool id>.txt`: "
    "“Use it when ... Not for ... Call x.y first.”"
)


@rule("destructive-guidance", "DS-04", "error")
def destructive_without_guidance(tool: Tool) -> Iterator[Problem]:
    """A destructive or dangerous tool has guidance.

    Certain, and dear: an agent that was told of nothing safer destroys what it need not.
    """
    if _is_destructive(tool) and not tool.guidance:
        yield "it can destroy something and has no guidance", _GUIDANCE_REMEDY


@rule("guidance", "DS-04", "warning")
def incomplete_guidance(tool: Tool) -> Iterator[Problem]:
    """A tool that changes something says when to use it, when not, and what safer one comes first.

    The words are English ones, and prose can say the same without them: a warning.
    """
    if tool.level not in ("write", "destructive") and not _is_destructive(tool):
        return
    if not tool.guidance:
        if not _is_destructive(tool):
            yield "it changes something and has no guidance", _GUIDANCE_REMEDY
        return
    missing = [part for part, says in _GUIDANCE_PATTERNS.items() if not says.search(tool.guidance)]
    if missing:
        yield f"its guidance does not say {', nor '.join(missing)}", _GUIDANCE_REMEDY


def _is_destructive(tool: Tool) -> bool:
    return tool.level == "destructive" or tool.danger == "dangerous"
