"""embed_form: what to publish, where it may be shown, how often it may be used; and what was typed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import htpy as h
from starlette.datastructures import FormData

from handrail.doors.web import controls as c
from handrail.identity.embeds import MOST_RUNS
from handrail.store.embeds import Embed

_SPANS = {"30": "In 30 days", "365": "In a year", "": "Never"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """An embed as somebody typed it."""

    title: str = ""
    tools: str = ""
    origins: str = ""
    runs_per_day: str = "1000"
    runs_per_visitor: str = "100"
    days: str = ""

    def wrong(self) -> dict[str, str]:
        """What is wrong with it, by field; what it names is looked up later."""
        found = {}
        if not self.title.strip():
            found["title"] = "Say what it is, for those who look after it."
        for name in ("runs_per_day", "runs_per_visitor"):
            given = getattr(self, name).strip()
            if not (given.isascii() and given.isdigit() and len(given) < 8 and int(given) <= MOST_RUNS):
                found[name] = f"Type a whole number from 0 to {MOST_RUNS:,}."
        if self.days not in _SPANS:
            found["days"] = "Choose one of these."
        return found

    @property
    def changes(self) -> dict[str, Any]:
        """What can be changed later, as the office takes it."""
        return {
            "title": self.title,
            "origins": lines(self.origins),
            "runs_per_day": int(self.runs_per_day),
            "runs_per_visitor": int(self.runs_per_visitor),
        }

    @property
    def lifetime(self) -> float | None:
        return float(self.days) * 86_400 if self.days else None


def lines(text: str) -> list[str]:
    """What stands on lines of its own, or between commas."""
    return [one.strip() for one in text.replace(",", "\n").splitlines() if one.strip()]


def read_wanted(form: FormData) -> Wanted:
    names = ("title", "tools", "origins", "runs_per_day", "runs_per_visitor", "days")
    return Wanted(**{name: c.text(form, name) for name in names})


def as_wanted(embed: Embed) -> Wanted:
    """An embed as a form shows it."""
    return Wanted(
        embed.title,
        "\n".join(embed.tools),
        "\n".join(embed.origins),
        str(embed.runs_per_day),
        str(embed.runs_per_visitor),
    )


def embed_form(
    wanted: Wanted, wrong: dict[str, str], problem: str | None, *, action: str, fresh: bool
) -> h.Element:
    """The form of a new embed, or of one that is there: its tools and its end stay as they are."""
    return h.form(".panel.stack.set-narrow", method="post", action=action)[
        c.alert(problem) if problem else None,
        c.field("title", "Name", value=wanted.title, error=wrong.get("title"), maxlength="200"),
        c.area(
            "tools",
            "Tools, one a line",
            value=wanted.tools,
            error=wrong.get("tools"),
            hint="By what stands in their address, such as roi-calculator. Tools that only read.",
        )
        if fresh
        else None,
        c.area(
            "origins",
            "Sites that may show it, one a line",
            value=wanted.origins,
            error=wrong.get("origins"),
            hint="Such as https://www.example.com. Without one, no site can.",
        ),
        c.field(
            "runs_per_day",
            "Runs a day, of all visitors together",
            value=wanted.runs_per_day,
            error=wrong.get("runs_per_day"),
            inputmode="numeric",
        ),
        c.field(
            "runs_per_visitor",
            "Runs a day of one visitor",
            value=wanted.runs_per_visitor,
            error=wrong.get("runs_per_visitor"),
            inputmode="numeric",
        ),
        c.choice("days", "Ends", _SPANS.items(), value=wanted.days, error=wrong.get("days"))
        if fresh
        else None,
        h.div[c.submit("Publish" if fresh else "Save")],
    ]
