"""How a tool wants its input asked for and its output shown: data for forms and pages, no code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

SectionKind = Literal["summary", "table", "chart", "radar", "ranking", "custom"]


@dataclass(frozen=True, slots=True)
class OutputSection:
    """One part of an output: which key, under which heading, drawn how."""

    key: str
    label: str
    type: SectionKind
    config: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.type not in get_args(SectionKind):
            kinds = ", ".join(get_args(SectionKind))
            raise ValueError(f"An output section is one of {kinds}, not {self.type!r}")

    def to_dict(self) -> dict[str, Any]:
        told: dict[str, Any] = {"key": self.key, "label": self.label, "type": self.type}
        if self.config is not None:
            told["config"] = dict(self.config)
        return told


@dataclass(frozen=True, slots=True)
class FormSpec:
    """Hints beside the input schema: order, groups, widgets, visibility, by field name."""

    hints: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ViewSpec:
    """The sections of an output, in order."""

    sections: tuple[OutputSection, ...] = ()

    def __post_init__(self) -> None:
        made = tuple(one if isinstance(one, OutputSection) else OutputSection(**one) for one in self.sections)
        object.__setattr__(self, "sections", made)

    def to_dict(self) -> dict[str, Any]:
        return {"sections": [section.to_dict() for section in self.sections]}
