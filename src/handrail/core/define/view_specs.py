"""Views that are registered for a tool from outside its definition, by its slug."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from handrail.core.define.names import SLUG
from handrail.core.define.sections import OutputSection, ViewSpec

if TYPE_CHECKING:
    from handrail.core.define.blocks import Block
    from handrail.core.define.tool import Tool

ToBlocks = Callable[[Any], "Iterable[Block]"]
"""A block of a tool's own: its output as blocks."""

_TOOL = "tool:"
_BLOCK = "block:tool-output-"

_specs: dict[str, ViewSpec] = {}
_own: dict[str, ToBlocks] = {}


def register_view_spec(key: str, spec: ViewSpec | Mapping[str, Any]) -> ViewSpec:
    """Say how the output of a tool is shown: `tool:<slug>`. Stands before what the tool itself says."""
    slug = _slug(key, _TOOL)
    _specs[slug] = made = spec if isinstance(spec, ViewSpec) else _read(key, spec)
    return made


def register_output_block(key: str, to_blocks: ToBlocks) -> None:
    """Give a tool a block of its own: `block:tool-output-<slug>`, a function from its output to blocks."""
    slug = _slug(key, _BLOCK)
    if not callable(to_blocks):
        raise ValueError(f"{key} is a function from an output to blocks, not {to_blocks!r}")
    _own[slug] = to_blocks


def forget_view_spec(key: str) -> None:
    """Forget what was registered for `tool:<slug>`; what its definition says holds again."""
    slug = _slug(key, _TOOL)
    _specs.pop(slug, None)
    _own.pop(slug, None)


def sections_of(tool: Tool) -> tuple[OutputSection, ...]:
    """The sections of a tool's output: as registered, else as its view or its sections say."""
    spec = _specs.get(tool.slug) or tool.view
    return (spec.sections if spec is not None else ()) or tool.sections


def own_block(tool: Tool) -> ToBlocks | None:
    """The function that draws this tool's output, if there is one."""
    return _own.get(tool.slug)


def _slug(key: str, prefix: str) -> str:
    slug = key.removeprefix(prefix)
    if slug == key or SLUG.match(slug) is None:
        raise ValueError(f"A view is registered for {prefix}<slug>, not for {key!r}")
    return slug


def _read(key: str, spec: Mapping[str, Any]) -> ViewSpec:
    try:
        return ViewSpec(**spec)
    except (TypeError, ValueError) as error:
        raise ValueError(f"The view of {key} cannot be read: {error}") from error
