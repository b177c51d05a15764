"""The column of a tool's result: how a call stands, in one place from its beginning to its end."""

from __future__ import annotations

from collections.abc import Mapping

import htpy as h

from handrail.core.define.call import Outcome
from handrail.core.define.result import Result
from handrail.core.define.tool import Tool
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.runs.result import on_request
from handrail.doors.web.pages.tools.inputs import KEY, new_key
from handrail.doors.web.pages.tools.known import url_of
from handrail.doors.web.pages.tools.ongoing import draw_live
from handrail.doors.web.pages.tools.standing import Standing
from handrail.doors.web.routing import Reader
from handrail.doors.web.story.drawing import run_url
from handrail.doors.web.views.result import draw_result
from handrail.doors.web.views.text import paragraph
from handrail.doors.web.words import span, state, when

CALL = "_call"
"""Under this name a form posts which call is to be made again."""
_DRAWN = ("sort.", "all.")
"""How parts of an address begin that say how a result is to be drawn."""
_LINE = 500
"""Characters of what a large result says that stand in the page at once."""


def draw_column(reader: Reader, tool: Tool, stands: Standing | None) -> h.Element:
    """The column; before the first run, what will be here."""
    if stands is None:
        return _frame(None, h.p(".tool-none")["The result will be here."])
    if stands.is_open:
        return _frame(None, draw_live(reader, tool, stands))
    assert stands.outcome is not None
    return _ended(reader, tool, stands, stands.outcome)


def draw_outcome(tool: Tool, outcome: Outcome) -> h.Element:
    """The column of a call of which the log tells nothing: it was planned, or never began."""
    return _frame(state(outcome.status), draw_result(tool, outcome.result, id="out"))


def _frame(head: h.Node, *body: h.Node) -> h.Element:
    return h.section("#result.panel.tool-panel", aria_labelledby="result-title")[
        h.div(".tool-panel-head")[h.h2("#result-title", tabindex="-1")["Result"], head], body
    ]


def _ended(reader: Reader, tool: Tool, stands: Standing, outcome: Outcome) -> h.Element:
    took = f" · {span(outcome.duration_ms / 1000)}" if stands.run_id else None
    return _frame(
        h.div(".row")[state(outcome.status), h.span(".quiet")[when(stands.at, reader.now), took]],
        h.p(".tool-ended")[stands.ending]
        if stands.ending
        else h.div("#tool-result")[_result(reader, tool, stands, outcome.result)],
        _steps(tool, stands, outcome),
    )


def _result(reader: Reader, tool: Tool, stands: Standing, result: Result) -> h.Node:
    """The result; of a large one what it says in a line, and the rest when it is asked for."""
    if later := on_request(result, stands.call_id, "tool-result"):
        said = result.error or result.summary or result.title or ""
        return [paragraph(said) if 0 < len(said) <= _LINE else None, later]
    run = run_url(stands.call_id)
    return draw_result(
        tool,
        result,
        args=stands.input,
        id="out",
        downloads=f"{run}/result",
        frames=f"{run}/frame",
        files=f"{run}/files",
        here=url_of(tool),
        query={"call": stands.call_id, **_drawn(reader.query)},
    )


def _drawn(query: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in query.items() if name.startswith(_DRAWN)}


def _steps(tool: Tool, stands: Standing, outcome: Outcome) -> h.Element:
    """What can be done next with a call that is over."""
    run = run_url(stands.call_id)
    why, refused = f"{run}/why", outcome.status == "refused"
    asks = {"hx-get": why, "hx-trigger": "toggle once", "hx-target": "#why", "hx-swap": "innerHTML"}
    again = url_of(tool, "run")
    return h.div(".tool-next")[
        h.details(asks)[
            h.summary[f"Why was this {'not ' if refused else ''}allowed?"],
            h.div("#why")[h.noscript[h.a(href=why)["Read what the rules say"]]],
        ],
        h.div(".row")[
            h.form(
                {"hx-post": again, "hx-target": "#result", "hx-swap": "outerHTML", "hx-sync": "this:drop"},
                method="post",
                action=again,
            )[
                h.input(type="hidden", name=CALL, value=stands.call_id),
                h.input(type="hidden", name=KEY, value=new_key()),
                h.button(".btn", type="submit", data_variant="outline", data_size="sm")[
                    icon("rotate-cw"), "Run again"
                ],
            ],
            h.a(".btn", href=f"{url_of(tool)}?call={stands.call_id}", data_variant="outline", data_size="sm")[
                icon("pencil"), "Edit the input"
            ],
            h.a(href=run)["The whole run"],
        ],
    ]
