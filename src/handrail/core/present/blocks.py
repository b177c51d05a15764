"""blocks: an output as a list of blocks, each JSON data that says what to draw; for pages and chats alike.

A block is drawn by its type. Whatever does not fit the section that speaks of it becomes a block of type
`value`, and so does what no section speaks of: nothing is dropped, nothing is raised.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from handrail.core.define.json_values import jsonable
from handrail.core.define.names import SLUG
from handrail.core.define.tool import Tool
from handrail.core.define.ui_specs import OutputSection, SectionKind, ViewSpec
from handrail.core.present.block_content import READERS

_log = logging.getLogger("handrail.views")
BlockType = SectionKind | Literal["value"]

WHOLE = "*"
"""The key of a section that speaks of the whole output."""

REST = "More"
"""The heading above what no section speaks of."""
_NOTHING = object()


@dataclass(frozen=True, slots=True)
class Block:
    """One part of an output, ready to be drawn."""

    type: BlockType
    key: str
    label: str
    content: Mapping[str, Any]
    """What to draw, in the shape of its type; see docs/views.md."""

    def to_dict(self) -> dict[str, Any]:
        return {"type": self.type, "key": self.key, "label": self.label, "content": dict(self.content)}


def tool_output_to_blocks(
    tool_or_sections: Tool | Iterable[OutputSection | Mapping[str, Any]] | None, output: Any
) -> list[Block]:
    """The output as blocks: by the tool's own block, by its sections, or as the value that it is."""
    if isinstance(tool_or_sections, Tool):
        own = output_block_of(tool_or_sections)
        if own is not None and (blocks := _own_blocks(own, output)) is not None:
            return blocks
        sections = sections_of(tool_or_sections)
    else:
        listed = tool_or_sections or ()
        sections = tuple(
            section if isinstance(section, OutputSection) else OutputSection(**section) for section in listed
        )
    return _section_blocks(sections, jsonable(output))


def _own_blocks(own: Any, output: Any) -> list[Block] | None:
    try:
        blocks = list(own(output))
    except Exception:  # an author's function may fail in any way; the output is shown all the same
        _log.exception("an output block failed; the output is shown without it")
        return None
    return blocks if all(isinstance(block, Block) for block in blocks) else None


def _section_blocks(sections: Iterable[OutputSection], output: Any) -> list[Block]:
    blocks: list[Block] = []
    rest = output
    for section in sections:
        path = _path(section.key, output)
        if path is None:
            continue
        blocks.append(to_block(section, _at(path, output)))
        rest = _without(path, rest)
    if rest is _NOTHING or (blocks and rest == {}):
        return blocks
    if not blocks:
        return [] if output is None else [Block("value", "", "", {"value": output})]
    return [*blocks, Block("value", "", REST, {"value": rest})]


def to_block(section: OutputSection, value: Any) -> Block:
    """One section's value as a block."""
    content = READERS[section.type](value, dict(section.config or {}))
    if content is None:
        return Block("value", section.key, section.label, {"value": value})
    return Block(section.type, section.key, section.label, content)


def _path(key: str, output: Any) -> tuple[str, ...] | None:
    """Where in the output a key leads: to a name, to the whole, or along a dotted path."""
    if isinstance(output, Mapping) and key in output:
        return (key,)
    if key == WHOLE:
        return ()
    path = tuple(key.split("."))
    return path if _at(path, output) is not _NOTHING else None


def _at(path: Iterable[str], value: Any) -> Any:
    for name in path:
        if not isinstance(value, Mapping) or name not in value:
            return _NOTHING
        value = value[name]
    return value


def _without(path: tuple[str, ...], value: Any) -> Any:
    """The value without the part at the path; what is empty then goes with it."""
    if not path or value is _NOTHING:
        return _NOTHING
    if not isinstance(value, Mapping) or path[0] not in value:
        return value
    rest = {name: part for name, part in value.items() if name != path[0]}
    if len(path) > 1 and (inner := _without(path[1:], value[path[0]])) not in (_NOTHING, {}):
        rest = {name: inner if name == path[0] else part for name, part in value.items()}
    return rest


ToBlocks = Callable[[Any], "Iterable[Block]"]
"""A block of a tool's own: its output as blocks."""
_TOOL = "tool:"
_BLOCK = "block:tool-output-"
_view_specs: dict[str, ViewSpec] = {}
_output_blocks: dict[str, ToBlocks] = {}


def register_view_spec(key: str, spec: ViewSpec | Mapping[str, Any]) -> ViewSpec:
    """Say how the output of a tool is shown: `tool:<slug>`. Stands before what the tool itself says."""
    slug = _slug(key, _TOOL)
    try:
        view = spec if isinstance(spec, ViewSpec) else ViewSpec(**spec)
    except (TypeError, ValueError) as error:
        raise ValueError(f"The view of {key} cannot be read: {error}") from error
    _view_specs[slug] = view
    return view


def register_output_block(key: str, to_blocks: ToBlocks) -> None:
    """Give a tool a block of its own: `block:tool-output-<slug>`, a function from its output to blocks."""
    slug = _slug(key, _BLOCK)
    if not callable(to_blocks):
        raise ValueError(f"{key} is a function from an output to blocks, not {to_blocks!r}")
    _output_blocks[slug] = to_blocks


def forget_view_spec(key: str) -> None:
    """Forget what was registered for `tool:<slug>`; what its definition says holds again."""
    slug = _slug(key, _TOOL)
    _view_specs.pop(slug, None)
    _output_blocks.pop(slug, None)


def sections_of(tool: Tool) -> tuple[OutputSection, ...]:
    """The sections of a tool's output: as registered, else as its view or its sections say."""
    spec = _view_specs.get(tool.slug) or tool.view
    return (spec.sections if spec is not None else ()) or tool.sections


def output_block_of(tool: Tool) -> ToBlocks | None:
    """The function that draws this tool's output, if there is one."""
    return _output_blocks.get(tool.slug)


def _slug(key: str, prefix: str) -> str:
    slug = key.removeprefix(prefix)
    if slug == key or SLUG.match(slug) is None:
        raise ValueError(f"A view is registered for {prefix}<slug>, not for {key!r}")
    return slug
