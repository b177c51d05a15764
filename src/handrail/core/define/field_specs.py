"""Form specs by what they are for: `tool:<slug>`. One that is registered wins over the tool's own."""

from __future__ import annotations

from handrail.core.define.names import SLUG
from handrail.core.define.sections import FormSpec

_specs: dict[str, FormSpec] = {}


def register_form_spec(key: str, spec: FormSpec) -> None:
    """Ask for the input of a tool as `spec` says: `register_form_spec("tool:roi-calculator", spec)`."""
    kind, _, slug = key.partition(":")
    if kind != "tool" or SLUG.match(slug) is None:
        raise ValueError(f"A form is registered for 'tool:<slug>', not for {key!r}")
    _specs[key] = spec


def form_spec_of(key: str) -> FormSpec | None:
    """The form spec that was registered under a key."""
    return _specs.get(key)


def forget_form_spec(key: str) -> None:
    """Take a registered form spec away again."""
    _specs.pop(key, None)
