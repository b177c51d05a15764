"""Why a call was allowed, asked about or refused: what each layer of the guard says to it, in words."""

from __future__ import annotations

import htpy as h
from starlette.responses import Response

from handrail.core.define.decision import Decision, Step
from handrail.core.define.tool import Tool
from handrail.doors.web.answer import html
from handrail.doors.web.frame import page
from handrail.doors.web.icons import icon
from handrail.doors.web.pages.tools.known import tool_here, url_of
from handrail.doors.web.pages.tools.standing import Standing, standing
from handrail.doors.web.routing import Pages, Reader

pages = Pages()
_LAYERS = {
    "find": "Finding it",
    "visibility": "Who sees it",
    "allow/deny": "Allowed and denied tools",
    "permission": "Permission",
    "capability": "What it may touch",
    "plan": "Plan mode",
    "rules": "Rules",
    "danger": "Danger",
    "level": "Level",
    "policy": "The tool's own wish",
    "standing": "Standing approval",
    "safety": "Safety check",
    "arguments": "Input",
}
_VERDICTS = {
    "allow": ("Runs", "check", "good"),
    "ask": ("Asks a person", "hand", "warn"),
    "queue": ("Is planned", "list-todo", "warn"),
    "deny": ("Does not run", "ban", "bad"),
}
_INVALID = frozenset({"MISSING_PARAM", "INVALID_PARAM"})


@pages.get("/tools/{slug}/call/{call}/why")
async def why(reader: Reader) -> Response:
    """What the guard says to this call."""
    tool = await tool_here(reader)
    stands = await standing(reader, tool, reader.part("call"))
    said = draw_why(await _decided(reader, tool, stands), stands)
    if reader.by_htmx:
        return html(said)
    crumbs = [("Tools", "/tools"), (tool.name, url_of(tool))]
    return page(
        reader,
        "Why was this allowed?",
        h.h1["Why was this allowed?"],
        h.div(".panel")[said],
        active="tools",
        crumbs=crumbs,
    )


async def _decided(reader: Reader, tool: Tool, stands: Standing) -> Decision:
    """The rules as they stand now, asked about the call as it was made."""
    return await reader.hr.explain(tool.id, dict(stands.input), stands.by or reader.who, source=stands.source)


def draw_why(decision: Decision, stands: Standing) -> h.Element:
    """The deciding word first, then every layer that was asked."""
    if decision.code in _INVALID:
        return h.p(".quiet")[
            "This cannot be told any more: a part of the input was a secret and is not kept."
        ]
    decider = decision.decider
    approved = f"{stands.approved_by} approved it. " if stands.approved_by else None
    return h.div(".tool-why")[
        h.p[approved, _sentence(decision)],
        h.ol(".tool-steps")[(_step(one, one is decider) for one in decision.trace)],
        h.p(".quiet")["By the rules as they are now."],
    ]


def _sentence(decision: Decision) -> str:
    said = decision.reason.strip()
    return f"{said[:1].upper()}{said[1:]}{'' if said.endswith('.') else '.'}" if said else ""


def _step(step: Step, decided: bool) -> h.Element:
    word, sign, tone = _VERDICTS[step.verdict]
    return h.li({"class": "tool-step-decided"} if decided else {})[
        h.span(class_=f"mark mark-{tone}")[icon(sign), word],
        h.b[_LAYERS.get(step.layer, step.layer)],
        h.span[step.reason, f" (rule {step.rule})" if step.rule else None],
        h.span(".quiet")["this decided"] if decided else None,
    ]
