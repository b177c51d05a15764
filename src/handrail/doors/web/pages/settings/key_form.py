"""key_form: the form of a new key, and what was typed into it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import htpy as h
from starlette.datastructures import FormData

from handrail.core.define.permission import LEVELS
from handrail.core.define.principal import KeyKind, Principal
from handrail.doors.web import controls as c
from handrail.doors.web.pages.settings.permissions import listed, offered
from handrail.store.users import User

_KINDS: dict[KeyKind, str] = {
    "agent": "An agent: what it asks for goes by the rules for agents",
    "service": "A program of yours, such as a nightly job",
    "person": "Yourself, at a terminal or in a script",
}
_SPANS = {"30": "In 30 days", "90": "In 90 days", "365": "In a year", "": "Never"}
_LEVELS = {
    "": "As far as you do",
    "read": "Read only",
    "draft": "Read and draft",
    "write": "Write, but destroy nothing",
    "destructive": "Everything, also what destroys",
}
_DOORS = {"": "REST and MCP", "mcp": "MCP only", "api": "REST only"}
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Wanted:
    """A key as somebody typed it."""

    name: str = ""
    kind: KeyKind = "agent"
    user: str | None = None
    """Empty for nobody; None before anything was chosen."""
    agent: str = ""
    audience: str = ""
    ceiling: str = ""
    tools: str = ""
    days: str = "90"
    permissions: tuple[str, ...] = ()

    def wrong(self) -> dict[str, str]:
        """What is wrong with it, by field."""
        found = {}
        if not 1 <= len(self.name) <= _LONGEST:
            found["name"] = f"Say in 1 to {_LONGEST} characters what the key is for."
        if self.days not in _SPANS:
            found["days"] = "Choose one of these."
        if len(self.agent) > _LONGEST:
            found["agent"] = f"An agent's name has at most {_LONGEST} characters."
        return found

    def bounds(self) -> dict[str, Any]:
        """How far it reaches, as the office of keys takes it."""
        return {
            "user": self.user or None,
            "agent": (self.agent or None) if self.kind == "agent" else None,
            "permissions": self.permissions or None,
            "tools": listed(self.tools) or None,
            "ceiling": self.ceiling or None,
            "audience": self.audience or None,
            "lifetime": float(self.days) * 86_400 if self.days else None,
        }


def read_wanted(form: FormData) -> Wanted:
    """What was posted."""
    kinds: list[KeyKind] = [one for one in _KINDS if one == c.text(form, "kind")]
    return Wanted(
        name=c.text(form, "name").strip(),
        kind=kinds[0] if kinds else "agent",
        user=c.text(form, "user"),
        agent=c.text(form, "agent").strip(),
        audience=c.text(form, "audience"),
        ceiling=c.text(form, "ceiling"),
        tools=c.text(form, "tools"),
        days=c.text(form, "days"),
        permissions=tuple(c.texts(form, "permissions")),
    )


def key_form(
    by: Principal,
    wanted: Wanted,
    people: Iterable[tuple[User, frozenset[str]]],
    wrong: dict[str, str],
    problem: str | None,
) -> h.Element:
    """The form. It offers no more than whoever fills it in may give."""
    levels = LEVELS if by.ceiling is None else LEVELS[: LEVELS.index(by.ceiling) + 1]
    others = [(one.id, one.name) for one, _ in people if one.id != by.user and not one.disabled]
    owners = [(by.user or "", "You"), *others, *([("", "Nobody")] if by.user else [])]
    return h.form(".panel.stack.set-narrow", method="post", action="/settings/keys")[
        c.alert(problem) if problem else None,
        c.field(
            "name", "What is it for", value=wanted.name, error=wrong.get("name"), maxlength=str(_LONGEST)
        ),
        c.choice("kind", "Who uses it", _KINDS.items(), value=wanted.kind),
        c.field(
            "agent",
            "Name of the agent",
            value=wanted.agent,
            error=wrong.get("agent"),
            hint="Reviewers see it beside what it asks for. Empty: the name above.",
        ),
        c.choice(
            "user",
            "Acts for",
            owners,
            value=(by.user or "") if wanted.user is None else wanted.user,
            hint="It never reaches further than this person does when it is used.",
        ),
        c.choice("audience", "Opens", _DOORS.items(), value=wanted.audience),
        c.choice("ceiling", "Reaches", [(one, _LEVELS[one]) for one in ("", *levels)], value=wanted.ceiling),
        c.area(
            "tools",
            "Tools",
            value=wanted.tools,
            hint="Names or patterns such as data.*, one a line. Empty: every tool.",
        ),
        c.choice("days", "Ends", _SPANS.items(), value=wanted.days, error=wrong.get("days")),
        h.details[
            h.summary["Only some permissions"],
            c.checks(
                "permissions",
                "It holds only these",
                offered(by),
                chosen=wanted.permissions,
                hint="None chosen: as many as you hold, for a key of a person; none for a key of nobody.",
            ),
        ],
        h.div(".row")[
            c.submit("Make the key"), h.a(".btn", href="/settings/keys", data_variant="outline")["Cancel"]
        ],
    ]
