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
from handrail.doors.web.pages.settings.layout import settings_page
from handrail.doors.web.routing import PageContext, PageRouter
from handrail.doors.web.views.blocks import render_ranking
from handrail.doors.web.views.charts import render_chart
from handrail.doors.web.views.context import ViewContext

router = PageRouter()
_PATH = "/settings/usage"
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


@router.get(_PATH, need="usage.read")
async def show(ctx: PageContext) -> Response:
    days = ctx.query.get("days", "30")
    days = days if days in _PERIODS else "30"
    since = ctx.now - (int(days) - 1) * 86_400
    by_day = await ctx.hr.usage(ctx.who, since=since, by=("day",))
    by_tool = await ctx.hr.usage(ctx.who, since=since, by=("tool",))
    total = Counts()
    for one in by_tool.values():
        total.take(one.amounts)
    return settings_page(
        ctx,
        "Usage",
        h.header(".head")[
            h.h1["Usage"],
            h.form(".row.set-span", method="get", action=_PATH)[
                c.select("days", "The last", _PERIODS.items(), value=days), c.submit("Show", "outline")
            ],
        ],
        _charts(by_day, by_tool, total, since, ctx.now)
        if total["calls"]
        else empty_state(
            "Nothing was called in this time",
            "Calls by people, agents and programs will be counted here.",
            h.a(".btn", href="/tools")["Browse tools"],
        ),
        part=_PATH,
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


def _each_day(told: Any, since: float, now: float) -> list[tuple[str, Counts]]:
    """Every day of the time, also those on which nothing was called."""
    first, last = _date(since), _date(now)
    found = {names[0]: counts for names, counts in told.items()}
    days = [first + timedelta(n) for n in range((last - first).days + 1)]
    return [(f"{day.day} {day:%b}", found.get(day.isoformat(), Counts())) for day in days]


def _date(at: float) -> date:
    return datetime.fromtimestamp(at, UTC).date()


def _tools(told: Any) -> h.Fragment:
    lines = sorted(told.items(), key=lambda line: (-line[1]["calls"], line[0]))
    heads = ("Tool", "Calls", "Succeeded", "Refused", "Half at most", "19 of 20 at most")
    left = len(lines) - _MOST_TOOLS
    return h.fragment[
        h.div(".table-container", tabindex="0", role="region", aria_label="Usage by tool")[
            h.table(".table")[
                h.thead[
                    h.tr[(h.th(scope="col", class_="num" if at else "")[one] for at, one in enumerate(heads))]
                ],
                h.tbody[(_row(names[0], counts) for names, counts in lines[:_MOST_TOOLS])],
            ]
        ],
        h.p(".quiet")[f"And {left:,} tools that were called less."] if left > 0 else None,
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
    return h.tr[h.th(scope="row")[name], (h.td(".num")[one] for one in cells)]


def _figure(label: str, value: str) -> h.Element:
    return h.div[h.dt[label], h.dd[value]]


def _share(counts: Counts) -> str:
    rate = counts.success_rate
    return "–" if rate is None else f"{rate * 100:.0f} %"


def _latency(counts: Counts, share: float) -> str:
    found = counts.quantile_ms(share)
    return "–" if found is None else duration(found / 1000)
