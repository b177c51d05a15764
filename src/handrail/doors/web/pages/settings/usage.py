"""Usage: how often tools were called, how well that went and how long it took, by day and by tool."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import htpy as h
from starlette.responses import Response

from handrail.core.present.block_content import read_chart, read_ranking
from handrail.core.tell.counts import Counts
from handrail.core.tell.usage import UNKNOWN_NAME
from handrail.doors.web import controls as c
from handrail.doors.web.humanize import duration
from handrail.doors.web.layout import empty_state
from handrail.doors.web.pages.settings.section import settings_section
from handrail.doors.web.router import PageContext
from handrail.doors.web.views.blocks import render_ranking
from handrail.doors.web.views.charts import render_chart
from handrail.doors.web.views.context import ViewContext

section = settings_section("Usage")
_PERIODS = {"7": "7 days", "30": "30 days", "90": "90 days"}
_BY_DAY: dict[str, Any] = {
    "kind": "bar",
    "stacked": True,
    "x": "day",
    "y": [{"key": "done", "label": "Done"}, {"key": "failed", "label": "Failed"}],
}
_LATENCY: dict[str, Any] = {
    "kind": "line",
    "x": "day",
    "y": [
        {"key": "half", "label": "Half", "decimals": 0},
        {"key": "most", "label": "19 of 20", "decimals": 0},
    ],
}
_RANKED: dict[str, Any] = {"label": "tool", "value": "calls"}
_MOST_TOOLS, _MOST_RANKED = 100, 10


@section.get()
async def show(ctx: PageContext) -> Response:
    days = ctx.query.get("days", "30")
    days = days if days in _PERIODS else "30"
    since = ctx.now - (int(days) - 1) * 86_400
    by_day = await ctx.hr.usage(ctx.who, since=since, by=("day",))
    by_tool = await ctx.hr.usage(ctx.who, since=since, by=("tool",))
    total = Counts()
    for counts in by_tool.values():
        total.take(counts.amounts)
    return section.page(
        ctx,
        "Usage",
        h.header(".head")[
            h.h1["Usage"],
            h.form(".row.set-span", method="get", action=section.path)[
                c.Controls({"days": days}).select("days", "The last", _PERIODS.items()),
                c.submit("Show", "outline"),
            ],
        ],
        _charts(by_day, by_tool, total, since, ctx.now)
        if total["calls"]
        else empty_state(
            "Nothing was called in this time",
            "Calls by people, agents and programs will be counted here.",
            c.link_button("/tools", "Browse tools"),
        ),
    )


def _charts(by_day: Any, by_tool: Any, total: Counts, since: float, now: float) -> h.Fragment:
    days = _each_day(by_day, since, now)
    runs = [
        {"day": day, "done": counts["completed"], "failed": counts["failed"] + counts["unclear"]}
        for day, counts in days
    ]
    took = [
        {"day": day, "half": counts.quantile_ms(0.5), "most": counts.quantile_ms(0.95)}
        for day, counts in days
    ]
    called = sorted(((counts["calls"], names[0]) for names, counts in by_tool.items()), reverse=True)
    ranked = [{"tool": tool, "calls": calls} for calls, tool in called[:_MOST_RANKED] if calls]
    return h.fragment[
        h.dl(".set-figures")[
            _figure("Calls", f"{total['calls']:,}"),
            _figure("Succeeded", _share(total)),
            _figure("Half took at most", _latency(total, 0.5)),
            _figure("19 of 20 took at most", _latency(total, 0.95)),
        ],
        h.div(".set-charts")[
            _chart("Runs by day", read_chart(runs, _BY_DAY), render_chart),
            _chart("How long runs took in ms, by day", read_chart(took, _LATENCY), render_chart),
            _chart("Most called", read_ranking(ranked, _RANKED), render_ranking),
        ],
        h.section(".stack")[h.h2["By tool"], _tools(by_tool)],
    ]


def _chart(title: str, content: Any, render: Callable[[Any, ViewContext, str], h.Node]) -> h.Element | None:
    if content is None:
        return None
    name = title.partition(" ")[0].lower()
    return h.section(".panel.stack")[h.h2[title], render(content, ViewContext(f"usage-{name}"), title)]


def _each_day(by_day: Any, since: float, now: float) -> list[tuple[str, Counts]]:
    """Every day of the time, also those on which nothing was called."""
    first, last = _date(since), _date(now)
    counted = {names[0]: counts for names, counts in by_day.items()}
    days = [first + timedelta(n) for n in range((last - first).days + 1)]
    return [(f"{day.day} {day:%b}", counted.get(day.isoformat(), Counts())) for day in days]


def _date(at: float) -> date:
    return datetime.fromtimestamp(at, UTC).date()


def _tools(by_tool: Any) -> h.Fragment:
    ranked = sorted(by_tool.items(), key=lambda item: (-item[1]["calls"], item[0]))
    heads = ("Tool", "Calls", "Succeeded", "Refused", "Half at most", "19 of 20 at most")
    rest = len(ranked) - _MOST_TOOLS
    return h.fragment[
        c.table(
            "Usage by tool",
            heads,
            (_row(names[0], counts) for names, counts in ranked[:_MOST_TOOLS]),
            head_classes={at: "num" if at else "" for at in range(len(heads))},
        ),
        h.p(".quiet")[f"And {rest:,} tools that were called less."] if rest > 0 else None,
    ]


def _row(tool: str, counts: Counts) -> h.Element:
    cells = (
        f"{counts['calls']:,}",
        _share(counts),
        f"{counts['refused']:,}",
        _latency(counts, 0.5),
        _latency(counts, 0.95),
    )
    name = "Names that are no tool's" if tool == UNKNOWN_NAME else tool
    return h.tr[h.th(scope="row")[name], (h.td(".num")[cell] for cell in cells)]


def _figure(label: str, value: str) -> h.Element:
    return h.div[h.dt[label], h.dd[value]]


def _share(counts: Counts) -> str:
    rate = counts.success_rate
    return "–" if rate is None else f"{rate * 100:.0f} %"


def _latency(counts: Counts, share: float) -> str:
    latency_ms = counts.quantile_ms(share)
    return "–" if latency_ms is None else duration(latency_ms / 1000)
