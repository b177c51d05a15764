"""How a tool wants its input asked for and its output shown: FormSpec and ViewSpec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from handrail.core.define.schema import digest_of

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
        config = {} if self.config is None else {"config": dict(self.config)}
        return {"key": self.key, "label": self.label, "type": self.type, **config}


def section_of(given: OutputSection | Mapping[str, Any]) -> OutputSection:
    """A section, or the mapping that describes one."""
    return given if isinstance(given, OutputSection) else OutputSection(**given)


HINTS = frozenset(
    "accept class compact empty entity group help hide_manual_url label multiple operator_only options order "
    "placeholder rows secret unit visible_when widget".split()
)
"""What a hint can be about; docs/forms.md says what each does."""


@dataclass(frozen=True, slots=True)
class FormGroup:
    """Fields of the top of a form that stand together under a heading."""

    title: str
    fields: tuple[str, ...]
    help: str = ""
    closed: bool = False
    """Folded until somebody opens it."""


@dataclass(frozen=True, slots=True)
class FormSpec:
    """How an input schema wants to be asked for: hints by the path of a field, order and groups.

    A path is the names on the way with dots between them, `*` for any item of a list or any further value:
    `FormSpec({"rate": {"widget": "slider"}, "years.*.cost": {"unit": "EUR"}}, order=("rate",))`.
    """

    hints: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    """Names at the top in the order of the form; the others follow in the order of the schema."""
    groups: tuple[FormGroup, ...] = ()
    additional_title: str = "Additional options"
    """The heading over fields that are for operators only."""
    additional_class: str = ""
    digest: str = field(default="", init=False, compare=False, repr=False)
    """A fingerprint of all of it."""

    def __post_init__(self) -> None:
        for path, hints in self.hints.items():
            unknown = sorted(hints.keys() - HINTS) if isinstance(hints, Mapping) else [repr(hints)]
            if unknown:
                names = ", ".join(sorted(HINTS))
                raise ValueError(f"{path}: {unknown[0]} is no hint for a field; there are {names}")
        groups = [(group.title, group.fields, group.help, group.closed) for group in self.groups]
        parts = [dict(self.hints), self.order, groups, self.additional_title, self.additional_class]
        object.__setattr__(self, "digest", digest_of(parts)[:32])


@dataclass(frozen=True, slots=True)
class ViewSpec:
    """The sections of an output, in order."""

    sections: tuple[OutputSection, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "sections", tuple(map(section_of, self.sections)))

    def to_dict(self) -> dict[str, Any]:
        return {"sections": [section.to_dict() for section in self.sections]}
