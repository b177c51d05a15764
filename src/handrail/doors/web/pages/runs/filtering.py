"""filtering: the form above a list of runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

import htpy as h

from handrail.core.tell.runs import RunStatus
from handrail.doors.web.pages.runs.asking import Asking
from handrail.doors.web.story.voice import THROUGH
from handrail.doors.web.words import STATES


def filter_form(asked: Asking, wrong: Mapping[str, str]) -> h.Element:
    """Works by itself; with script the list follows what is typed."""
    asks = {
        "hx-get": "/runs",
        "hx-target": "#runs",
        "hx-swap": "outerMorph",
        "hx-push-url": "true",
        "hx-trigger": "submit, change, input delay:300ms",
    }
    return h.form("#run-filter.run-filter", asks, method="get", action="/runs", role="search")[
        _field("tool", "Tool", _text("tool", asked.tool, "data.updateRecord"), wrong),
        _field("who", "Who", _text("who", asked.who, "me, a name, an agent"), wrong),
        _field("status", "State", _choice("status", asked.status, _STATE_WORDS), wrong),
        _field("source", "Through", _choice("source", asked.source, THROUGH), wrong),
        _field("since", "From", _day("since", asked.since, wrong), wrong),
        _field("until", "To", _day("until", asked.until, wrong), wrong),
        h.div(".run-filter-do")[
            h.button(".btn", type="submit", data_variant="outline", data_size="sm")["Filter"],
            h.a(".btn", href="/runs", data_variant="ghost", data_size="sm")["Clear"] if asked.any else None,
        ],
    ]


_STATE_WORDS = {one: STATES[one].word for one in get_args(RunStatus)}


def _field(name: str, label: str, control: h.Node, wrong: Mapping[str, str]) -> h.Element:
    return h.div(".run-field")[
        h.label(for_=f"run-{name}")[label],
        control,
        h.p(".run-wrong", id=f"run-{name}-wrong")[wrong[name]] if name in wrong else None,
    ]


def _text(name: str, value: str, hint: str) -> h.VoidElement:
    return h.input(
        f"#run-{name}.input",
        type="text",
        name=name,
        value=value,
        placeholder=hint,
        autocomplete="off",
        spellcheck="false",
    )


def _day(name: str, value: str, wrong: Mapping[str, str]) -> h.VoidElement:
    said = {"aria-invalid": "true", "aria-describedby": f"run-{name}-wrong"} if name in wrong else {}
    return h.input(f"#run-{name}.input", said, type="date", name=name, value=value)


def _choice(name: str, value: str, words: Mapping[str, str]) -> h.Element:
    return h.select(f"#run-{name}.select", name=name)[
        h.option(value="", selected=not value)["Any"],
        (h.option(value=one, selected=one == value)[word] for one, word in words.items()),
    ]
