"""Usage: how often tools were called, how well that went and how long it took, by day and by tool."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import htpy as h
from starlette.responses import Response

from handrail.core.define.block_readers import read_chart, read_ranking
from handrail.core.tell.counts import Counts
from handrail.core.tell.usage import UNKNOWN
from handrail.doors.web import controls as c
from handrail.doors.web.frame import empty
from handrail.doors.web.pages.settings.shell import settings
from handrail.doors.web.routing import Pages, Reader
from handrail.doors.web.views.charts import draw_chart
from handrail.doors.web.views.look import Look
from handrail.doors.web.views.ranking import draw_ranking
from handrail.doors.web.words import span

pages = Pages()
_HERE = "/settings/usage"
_SPANS = {"7": "7 days", "30": "30 days", "90": "90 days"}
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


@pages.get(_HERE, need="usage.read")
async def show(reader: Reader) -> Response:
    days = reader.query.get("days", "30")
    days = days if days in _SPANS else "30"
    since = reader.now - (int(days) - 1) * 86_400
    by_day = await reader.hr.usage(reader.who, since=since, by=("day",))
    by_tool = await reader.hr.usage(reader.who, since=since, by=("tool",))
    total = Counts()
    for one in by_tool.values():
        total.take(one.amounts)
    return settings(
        reader,
        "Usage",
        h.header(".head")[
            h.h1["Usage"],
            h.form(".row.set-span", method="get", action=_HERE)[
                c.choice("days", "The last", _SPANS.items(), value=days), c.submit("Show", "outline")
            ],
        ],
        _drawn(by_day, by_tool, total, since, reader.now)
        if total["calls"]
        else empty(
            "Nothing was called in this time",
            "Calls by people, agents and programs will be counted here.",
            h.a(".btn", href="/tools")["Browse tools"],
        ),
        part=_HERE,
    )


def _drawn(by_day: Any, by_tool: Any, total: Counts, since: float, now: float) -> h.Fragment:
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
            _figure("Half took at most", _took(total, 0.5)),
            _figure("19 of 20 took at most", _took(total, 0.95)),
        ],
        h.div(".set-charts")[
            _chart("Runs by day", read_chart(runs, _BY_DAY), draw_chart),
            _chart("How long runs took in ms, by day", read_chart(took, _LATENCY), draw_chart),
            _chart("Most called", read_ranking(ranked, _RANKED), draw_ranking),
        ],
        h.section(".stack")[h.h2["By tool"], _tools(by_tool)],
    ]


def _chart(title: str, content: Any, draw: Callable[[Any, Look, str], h.Node]) -> h.Element | None:
    if content is None:
        return None
    name = title.partition(" ")[0].lower()
    return h.section(".panel.stack")[h.h2[title], draw(content, Look(f"usage-{name}"), title)]


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
        _took(counts, 0.5),
        _took(counts, 0.95),
    )
    name = "Names that are no tool's" if tool == UNKNOWN else tool
    return h.tr[h.th(scope="row")[name], (h.td(".num")[one] for one in cells)]


def _figure(label: str, value: str) -> h.Element:
    return h.div[h.dt[label], h.dd[value]]


def _share(counts: Counts) -> str:
    rate = counts.success_rate
    return "–" if rate is None else f"{rate * 100:.0f} %"


def _took(counts: Counts, share: float) -> str:
    found = counts.quantile_ms(share)
    return "–" if found is None else span(found / 1000)
