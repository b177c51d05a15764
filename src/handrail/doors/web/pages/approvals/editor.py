"""editor: the form in which arguments are changed, and what was written there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import htpy as h
from starlette.datastructures import FormData

from handrail.core.define.call import FieldError
from handrail.doors.web.pages.approvals.asking import Ask


@dataclass(frozen=True)
class Edited:
    """What somebody wrote."""

    value: Any
    errors: tuple[FieldError, ...] = ()
    text: str | None = None
    """As it was typed, where it could not be read."""

    @property
    def done(self) -> bool:
        return not self.errors


def draw(ask: Ask, value: Any, errors: Sequence[FieldError], edited: Edited | None) -> h.Node:
    """All arguments as JSON."""
    text = edited.text if edited is not None and edited.text is not None else _pretty(value)
    wrong = h.ul("#ask-json-wrong.ask-wrong")[(h.li[str(one)] for one in errors)] if errors else None
    more = {"aria-invalid": "true", "aria-describedby": "ask-json-wrong"} if errors else {}
    return h.div(".ask-field")[
        h.label(for_="ask-json")["All arguments, as JSON"],
        h.textarea(
            "#ask-json.textarea.mono",
            more,
            name="json",
            rows=str(min(24, text.count("\n") + 2)),
            spellcheck="false",
        )[text],
        wrong,
    ]


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def read(ask: Ask, form: FormData) -> Edited:
    found = form.get("json")
    text = found if isinstance(found, str) else ""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Edited(None, (FieldError("", f"This is not JSON: {error}"),), text)
    if not isinstance(value, dict):
        return Edited(value, (FieldError("", "Arguments are one object with names: {…}"),), text)
    return Edited(value, (), text)
