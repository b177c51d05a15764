"""Controls: inputs of our own forms, each with its label, its hint, and its error where it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import htpy as h
from starlette.datastructures import FormData

Option = tuple[str, str]
"""A value and its words."""


def posted_text(form: FormData, name: str) -> str:
    """A posted text; nothing where there is none, or a file."""
    found = form.get(name)
    return found if isinstance(found, str) else ""


def posted_texts(form: FormData, name: str) -> list[str]:
    """Everything that was posted under a name."""
    return [one for one in form.getlist(name) if isinstance(one, str)]


def field(
    name: str,
    label: str,
    *,
    value: str = "",
    kind: str = "text",
    error: str | None = None,
    hint: h.Node = None,
    **more: Any,
) -> h.Element:
    """A line to type into. What a password field held is never sent back."""
    kept = {} if kind == "password" else {"value": value}
    control = h.input(
        ".input", id=_id(name), name=name, type=kind, **kept, **_described(name, hint, error), **more
    )
    return _field(name, label, control, hint, error)


def text_area(
    name: str, label: str, *, value: str = "", error: str | None = None, hint: h.Node = None, rows: int = 3
) -> h.Element:
    """Several lines to type into."""
    control = h.textarea(
        ".textarea", id=_id(name), name=name, rows=str(rows), **_described(name, hint, error)
    )[value]
    return _field(name, label, control, hint, error)


def select(
    name: str,
    label: str,
    options: Iterable[Option],
    *,
    value: str = "",
    error: str | None = None,
    hint: h.Node = None,
) -> h.Element:
    """One of several."""
    control = h.select(".select", id=_id(name), name=name, **_described(name, hint, error))[
        (h.option(value=one, selected=one == value)[said] for one, said in options)
    ]
    return _field(name, label, control, hint, error)


def checkboxes(
    name: str,
    legend: str,
    options: Iterable[Option],
    *,
    chosen: Iterable[str] = (),
    error: str | None = None,
    hint: h.Node = None,
) -> h.Element:
    """Any of several."""
    held = set(chosen)
    return h.fieldset(".checks", **_described(name, hint, error, group=True))[
        h.legend[legend],
        _note(name, hint),
        h.div(".checks-list")[
            (
                h.label(".check")[
                    h.input(".input", type="checkbox", name=name, value=one, checked=one in held),
                    h.span[said],
                ]
                for one, said in options
            )
        ],
        _wrong(name, error),
    ]


def hidden(**values: str) -> h.Fragment:
    return h.fragment[(h.input(type="hidden", name=name, value=value) for name, value in values.items())]


def submit(label: str, variant: str | None = None) -> h.Element:
    return h.button(".btn", type="submit", data_variant=variant)[label]


def alert(said: str) -> h.Element:
    """What went wrong with a form as a whole."""
    return h.div(".alert", role="alert", data_variant="destructive")[h.p[said]]


def _id(name: str) -> str:
    return f"field-{name}"


def _described(name: str, hint: h.Node, error: str | None, *, group: bool = False) -> Mapping[str, Any]:
    by = [f"{_id(name)}-hint"] if hint is not None else []
    by += [f"{_id(name)}-error"] if error else []
    told: dict[str, Any] = {"aria_describedby": " ".join(by)} if by else {}
    return told | ({"aria_invalid": "true"} if error and not group else {})


def _field(name: str, label: str, control: h.Node, hint: h.Node, error: str | None) -> h.Element:
    invalid = {"data-invalid": "true"} if error else {}
    return h.div(".field", invalid)[
        h.label(".label", for_=_id(name))[label], control, _note(name, hint), _wrong(name, error)
    ]


def _note(name: str, hint: h.Node) -> h.Node:
    return None if hint is None else h.p(".quiet", id=f"{_id(name)}-hint")[hint]


def _wrong(name: str, error: str | None) -> h.Node:
    return h.p(".wrong", id=f"{_id(name)}-error")[error] if error else None
