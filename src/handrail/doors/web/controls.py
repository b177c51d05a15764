"""Controls: inputs of our own forms with label, hint and error, buttons, tables, and what htmx is to ask."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import htpy as h
from starlette.datastructures import FormData

from handrail.doors.web.icons import icon

Option = tuple[str, str]
"""A value and its words."""
Attributes = dict[str, str]


def posted_text(form: FormData, name: str) -> str:
    """A posted text; nothing where there is none, or a file."""
    value = form.get(name)
    return value if isinstance(value, str) else ""


def posted_texts(form: FormData, name: str) -> list[str]:
    """Everything that was posted under a name."""
    return [value for value in form.getlist(name) if isinstance(value, str)]


@dataclass(frozen=True, slots=True)
class Controls:
    """The inputs of one form: what they hold, and what is wrong with it, by the name of the input."""

    values: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    errors: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def field(
        self, name: str, label: str, *, kind: str = "text", hint: h.Node = None, **more: Any
    ) -> h.Element:
        """A line to type into. What a password field held is never sent back."""
        value = {} if kind == "password" else {"value": self.values.get(name, "")}
        described = self._described(name, hint)
        control = h.input(".input", id=_id(name), name=name, type=kind, **value, **described, **more)
        return self._labelled(name, label, control, hint)

    def text_area(self, name: str, label: str, *, hint: h.Node = None, rows: int = 3) -> h.Element:
        """Several lines to type into."""
        described = self._described(name, hint)
        control = h.textarea(".textarea", id=_id(name), name=name, rows=str(rows), **described)
        return self._labelled(name, label, control[self.values.get(name, "")], hint)

    def select(self, name: str, label: str, options: Iterable[Option], *, hint: h.Node = None) -> h.Element:
        """One of several."""
        control = h.select(".select", id=_id(name), name=name, **self._described(name, hint))
        choices = select_options(options, self.values.get(name, ""))
        return self._labelled(name, label, control[choices], hint)

    def checkboxes(
        self, name: str, legend: str, options: Iterable[Option], *, hint: h.Node = None
    ) -> h.Element:
        """Any of several."""
        chosen = set(self.values.get(name, ()))
        described = self._described(name, hint)
        described.pop("aria_invalid", None)  # that is for single inputs; a group only points at its error
        return h.fieldset(".checks", **described)[
            h.legend[legend],
            _hint(name, hint),
            h.div(".checks-list")[
                (
                    h.label(".check")[
                        h.input(".input", type="checkbox", name=name, value=value, checked=value in chosen),
                        h.span[words],
                    ]
                    for value, words in options
                )
            ],
            self._error(name),
        ]

    def _described(self, name: str, hint: h.Node) -> dict[str, Any]:
        ids = [f"{_id(name)}-hint"] if hint is not None else []
        if not self.errors.get(name):
            return {"aria_describedby": ids[0]} if ids else {}
        return {"aria_describedby": " ".join([*ids, f"{_id(name)}-error"]), "aria_invalid": "true"}

    def _labelled(self, name: str, label: str, control: h.Node, hint: h.Node) -> h.Element:
        invalid = {"data-invalid": "true"} if self.errors.get(name) else {}
        return h.div(".field", invalid)[
            h.label(".label", for_=_id(name))[label], control, _hint(name, hint), self._error(name)
        ]

    def _error(self, name: str) -> h.Node:
        error = self.errors.get(name)
        return h.p(".wrong", id=f"{_id(name)}-error")[error] if error else None


def _id(name: str) -> str:
    return f"field-{name}"


def _hint(name: str, hint: h.Node) -> h.Node:
    return None if hint is None else h.p(".quiet", id=f"{_id(name)}-hint")[hint]


def select_options(options: Iterable[Option], chosen: str) -> Iterable[h.Element]:
    return (h.option(value=value, selected=value == chosen)[words] for value, words in options)


def hidden(**values: str) -> h.Fragment:
    return h.fragment[(h.input(type="hidden", name=name, value=value) for name, value in values.items())]


def submit(label: h.Node, variant: str | None = None, size: str | None = None, **more: Any) -> h.Element:
    """The button that sends a form."""
    return h.button(".btn", type="submit", data_variant=variant, data_size=size, **more)[label]


def small_submit(label: h.Node, variant: str = "outline") -> h.Element:
    return submit(label, variant, "sm")


def post_button(action: str, label: h.Node, variant: str | None = None, size: str | None = None) -> h.Element:
    """A form that is nothing but its button."""
    return h.form(method="post", action=action)[submit(label, variant, size)]


def link_button(
    href: str,
    label: h.Node,
    variant: str | None = None,
    size: str | None = None,
    asks: Attributes | None = None,
    **more: Any,
) -> h.Element:
    """A link that looks like a button; `asks` is what it does with htmx."""
    return h.a(".btn", asks or {}, href=href, data_variant=variant, data_size=size, **more)[label]


def small_link(
    href: str, label: h.Node, variant: str = "outline", asks: Attributes | None = None, **more: Any
) -> h.Element:
    return link_button(href, label, variant, "sm", asks, **more)


def copy_button(source: str, size: str | None = None) -> h.Element:
    """Copies what stands in the input of this id."""
    return h.button(".btn", type="button", data_copy=source, data_variant="outline", data_size=size)[
        icon("copy"), "Copy"
    ]


def upload_form(id: str, url: str, target: str, swap: str = "outerHTML", **more: str) -> h.Element:
    """A form with the fields of a tool; its answer takes the place of the target. Drop what comes twice."""
    asks = {**post_into(url, target, swap), "hx-sync": "this:drop", **more}
    return h.form(asks, id=id, method="post", action=url, enctype="multipart/form-data", novalidate=True)


def alert(text: str | None) -> h.Element | None:
    """What went wrong with a form as a whole, if anything did."""
    return h.div(".alert", role="alert", data_variant="destructive")[h.p[text]] if text else None


def badge(word: str, tone: str | None = None, sign: str | None = None) -> h.Element:
    """A word that says how something stands."""
    return h.span(class_=f"mark mark-{tone}" if tone else "mark")[icon(sign) if sign else None, word]


def table(
    label: str | None,
    heads: Iterable[h.Node],
    rows: Iterable[h.Node],
    *,
    class_: str = "table",
    head_classes: Mapping[int, str] | None = None,
) -> h.Element:
    """A table. With a label it can be scrolled by itself, also with the keyboard."""
    region = {"tabindex": "0", "role": "region", "aria-label": label} if label else {}
    classes = head_classes or {}
    return h.div(".table-container", region)[
        h.table(class_=class_)[
            h.thead[h.tr[(h.th(scope="col", class_=classes.get(at))[head] for at, head in enumerate(heads))]],
            h.tbody[rows],
        ]
    ]


def confirm_panel(title: str, text: h.Node, action: str, label: str, back: str, narrow: str) -> h.Element:
    """Asks once more before something is gone for good."""
    return h.section(f".panel.stack.{narrow}")[
        h.h1[title],
        h.p[text],
        h.form(".row", method="post", action=action)[
            submit(label, "destructive"), link_button(back, "Keep it", "outline")
        ],
    ]


def shown_once(id: str, label: str, value: str, row: str) -> list[h.Element]:
    """A text to be copied, since nobody can read it again."""
    return [
        h.label(".label", for_=id)[label],
        h.div(f".row.{row}")[
            h.input(f"#{id}.input.mono", type="text", readonly=True, value=value), copy_button(id)
        ],
    ]


def get_into(url: str, target: str, swap: str = "outerHTML") -> Attributes:
    """Attributes of a link or form whose answer takes the place of another element."""
    return {"hx-get": url, "hx-target": target, "hx-swap": swap}


def post_into(url: str, target: str, swap: str = "outerHTML") -> Attributes:
    return {"hx-post": url, "hx-target": target, "hx-swap": swap}


def refresh_on(url: str, *triggers: str) -> Attributes:
    """Attributes of a part of a page that asks for itself again."""
    return {"hx-get": url, "hx-trigger": ", ".join(triggers), "hx-swap": "outerMorph"}


def refresh_on_news(url: str, *topics: str) -> Attributes:
    """Ask again when a topic is told, and when the stream begins: something may have happened before."""
    return refresh_on(url, *(f"{topic} from:body" for topic in (*topics, "hello")))
