"""blocks: an output as a list of blocks, each JSON data that says what to draw; for pages and chats alike.

A block is drawn by its type. Whatever does not fit the section that speaks of it becomes a block of type
`value`, and so does what no section speaks of: nothing is dropped, nothing is raised.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from handrail.core.define.block_readers import READERS
from handrail.core.define.plain import plain
from handrail.core.define.sections import OutputSection, SectionKind
from handrail.core.define.tool import Tool
from handrail.core.define.view_specs import own_block, sections_of

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
        own = own_block(tool_or_sections)
        if own is not None and (made := _by(own, output)) is not None:
            return made
        sections = sections_of(tool_or_sections)
    else:
        given = tool_or_sections or ()
        sections = tuple(one if isinstance(one, OutputSection) else OutputSection(**one) for one in given)
    return _by_sections(sections, plain(output))


def _by(own: Any, output: Any) -> list[Block] | None:
    try:
        made = list(own(output))
    except Exception:  # an author's function may fail in any way; the output is shown all the same
        _log.exception("an output block failed; the output is shown without it")
        return None
    return made if all(isinstance(one, Block) for one in made) else None


def _by_sections(sections: Iterable[OutputSection], output: Any) -> list[Block]:
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
    left = {name: part for name, part in value.items() if name != path[0]}
    if len(path) > 1 and (inner := _without(path[1:], value[path[0]])) not in (_NOTHING, {}):
        left = {name: inner if name == path[0] else part for name, part in value.items()}
    return left
