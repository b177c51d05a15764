"""Every page and every form of the web app: who may use it, what it takes, what it answers.

Written down a second time: to loosen a page takes two changes, and a new page that is not here fails a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

OPEN, SIGNED_IN, PERSON, OWN = "open", "signed in", "a person", "own"
"""For everybody; for whoever is somebody; for whoever is signed in with a browser, and no key; for the caller
of something alone, whom nobody of the table is."""


@dataclass(frozen=True)
class RouteRow:
    """One method of one address."""

    need: str
    """OPEN, SIGNED_IN, PERSON, OWN, or a permission."""
    ok: int = 200
    """What it answers to whoever may."""
    thing: str | None = None
    """What the address names; a fresh one where a form uses it up."""
    form: Mapping[str, str] = field(default_factory=dict)
    """What is posted; `{shown}` and the like stand for what the thing has."""
    but: Mapping[str, int] = field(default_factory=dict)
    """Whom it answers otherwise: by role, `foreign` for a member of another tenant."""
    query: str = ""

    def filled(self, thing: Mapping[str, str]) -> dict[str, str]:
        return {name: value.format_map(thing) for name, value in self.form.items()}


_SEEN = "approvals.read"
_DECIDES = "approvals.decide"
_RUN = "runs.read"
_EVENTS = "events.read"
_SHOWN = {"shown": "{shown}"}
_JSON: dict[str, str] = {"_face": "json", "_json": '{{"text": "x"}}', "_name": "n"}
_EMBED = {"title": "t", "tools": "echo.say", "origins": "https://a.example", "runs_per_day": "1",
          "runs_per_visitor": "1", "days": ""}  # fmt: skip
_SESSIONS, _MANAGE = "tool_sessions.read", "tool_sessions.manage"

ROUTES: dict[str, RouteRow] = {
    "GET /live": RouteRow(SIGNED_IN),
    "GET /palette": RouteRow(SIGNED_IN),
    "GET /sign-in": RouteRow(OPEN, 303, but={"nobody": 200}),
    "POST /sign-in": RouteRow(OPEN, 400, form={"email": "a@example.com", "password": ""}),
    "POST /sign-out": RouteRow(OPEN, 303),
    "GET /switch": RouteRow(PERSON),
    "POST /switch": RouteRow(PERSON, 303, form={"tenant": "here"}, but={"foreign": 404}),
    "GET /": RouteRow(SIGNED_IN),
    "GET /home/part": RouteRow(SIGNED_IN),
    "GET /approvals/badge": RouteRow(SIGNED_IN),
    "GET /approvals": RouteRow(SIGNED_IN),
    "GET /approvals/list": RouteRow(SIGNED_IN),
    "GET /approvals/{id}": RouteRow(_SEEN, 200, "approval"),
    "GET /approvals/{id}/card": RouteRow(_SEEN, 200, "approval"),
    "GET /approvals/{id}/edit": RouteRow(_DECIDES, 200, "approval"),
    "POST /approvals/{id}/edit": RouteRow(_DECIDES, 200, "approval", {**_SHOWN, **_JSON}),
    "POST /approvals/{id}/edit/back": RouteRow(_DECIDES, 200, "approval", _SHOWN),
    "GET /approvals/{id}/standing": RouteRow(_SEEN, 200, "approval"),
    "POST /approvals/{id}/approve": RouteRow(_DECIDES, 303, "approval", _SHOWN),
    "POST /approvals/{id}/reject": RouteRow(_DECIDES, 303, "approval", _SHOWN),
    "POST /approvals/{id}/respond": RouteRow(_DECIDES, 303, "approval", {**_SHOWN, "output": "x"}),
    "GET /tools": RouteRow(SIGNED_IN),
    "GET /tools/{slug}": RouteRow(SIGNED_IN, 200, "tool"),
    "POST /tools/{slug}/form": RouteRow(SIGNED_IN, 200, "tool", _JSON),
    "POST /tools/{slug}/check": RouteRow(SIGNED_IN, 200, "tool", _JSON),
    "GET /tools/{slug}/options": RouteRow(SIGNED_IN, 200, "tool"),
    "POST /tools/{slug}/run": RouteRow(SIGNED_IN, 303, "tool", _JSON),
    "GET /tools/{slug}/call/{call}": RouteRow(_EVENTS, 303, "done"),
    "GET /tools/{slug}/call/{call}/output": RouteRow(_EVENTS, 200, "done"),
    "POST /tools/{slug}/call/{call}/cancel": RouteRow("jobs.cancel", 303, "waiting"),
    "POST /tools/{slug}/call/{call}/confirm": RouteRow(OWN, 303, "waiting"),
    "GET /tools/{slug}/history": RouteRow(SIGNED_IN, 200, "tool"),
    "POST /tools/{slug}/saved": RouteRow(SIGNED_IN, 200, "tool", _JSON, but={"agent": 422}),
    "POST /tools/{slug}/saved/rename": RouteRow(
        SIGNED_IN, 303, "tool", {"_from": "n", "_name": "m"}, {"agent": 422}
    ),
    "POST /tools/{slug}/saved/remove": RouteRow(SIGNED_IN, 303, "tool", {"_name": "n"}, but={"agent": 409}),
    "POST /tools/{slug}/link": RouteRow(SIGNED_IN, 200, "tool", _JSON),
    "POST /tools/{slug}/star": RouteRow(SIGNED_IN, 303, "tool", {"on": "1"}, but={"agent": 409}),
    "GET /runs": RouteRow(SIGNED_IN),
    "GET /runs/{id}": RouteRow(_RUN, 200, "run"),
    "GET /runs/{id}/part": RouteRow(_RUN, 200, "run"),
    "GET /runs/{id}/story": RouteRow(_RUN, 200, "run"),
    "GET /runs/{id}/output": RouteRow(_EVENTS, 200, "run"),
    "GET /runs/{id}/events/{seq}": RouteRow(_EVENTS, 200, "run"),
    "POST /runs/{id}/cancel": RouteRow("jobs.cancel", 303, "waiting"),
    "GET /runs/{id}/result": RouteRow(_EVENTS, 200, "run"),
    "GET /runs/{id}/result.json": RouteRow(_EVENTS, 200, "run"),
    "GET /runs/{id}/result.csv": RouteRow(_EVENTS, 200, "run", query="?section=rows"),
    "GET /runs/{id}/frames/{section:path}": RouteRow(_EVENTS, 200, "run"),
    "GET /runs/{id}/frame/{section:path}": RouteRow(_EVENTS, 200, "run"),
    "GET /runs/{id}/files/{number}": RouteRow(_EVENTS, 200, "run"),
    "GET /runs/{id}/input": RouteRow(_EVENTS, 200, "run"),
    "GET /runs/{id}/why": RouteRow(_EVENTS, 200, "run"),
    "GET /sessions": RouteRow(SIGNED_IN),
    "GET /sessions/{id:path}": RouteRow(_EVENTS, 200, "together"),
    "GET /settings": RouteRow(SIGNED_IN, 303),
    "GET /settings/profile": RouteRow(PERSON),
    "POST /settings/profile/name": RouteRow(PERSON, 303, form={"name": "Somebody"}),
    "POST /settings/profile/password": RouteRow(PERSON, 400, form={"new": "a", "again": "b"}),
    "POST /settings/profile/theme": RouteRow(PERSON, 303, form={"theme": "dark"}),
    "GET /settings/keys": RouteRow("keys.manage"),
    "GET /settings/keys/new": RouteRow("keys.manage"),
    "POST /settings/keys": RouteRow("keys.manage", 400),
    "GET /settings/keys/{id}/revoke": RouteRow("keys.manage", 200, "key"),
    "POST /settings/keys/{id}/revoke": RouteRow("keys.manage", 303, "key"),
    "GET /settings/embeds": RouteRow("embeds.manage"),
    "GET /settings/embeds/new": RouteRow("embeds.manage"),
    "POST /settings/embeds": RouteRow("embeds.manage", 303, form=_EMBED),
    "GET /settings/embeds/{id}": RouteRow("embeds.manage", 200, "embed"),
    "POST /settings/embeds/{id}": RouteRow("embeds.manage", 303, "embed", _EMBED),
    "POST /settings/embeds/{id}/switch": RouteRow("embeds.manage", 303, "embed"),
    "GET /settings/embeds/{id}/revoke": RouteRow("embeds.manage", 200, "embed"),
    "POST /settings/embeds/{id}/revoke": RouteRow("embeds.manage", 303, "embed"),
    "GET /settings/members": RouteRow("members.manage"),
    "POST /settings/members": RouteRow("members.manage", 400),
    "GET /settings/members/{id}": RouteRow("members.manage", 200, "member"),
    "POST /settings/members/{id}": RouteRow("members.manage", 303, "member", {"roles": "viewer"}),
    "GET /settings/members/{id}/remove": RouteRow("members.manage", 200, "member"),
    "POST /settings/members/{id}/remove": RouteRow("members.manage", 303, "member"),
    "GET /settings/roles": RouteRow("roles.manage"),
    "GET /settings/roles/new": RouteRow("roles.manage"),
    "GET /settings/roles/edit/{name}": RouteRow("roles.manage", 200, "role"),
    "POST /settings/roles": RouteRow(
        "roles.manage", 303, "role", {"was": "{name}", "permissions": "runs.read"}
    ),
    "GET /settings/roles/delete/{name}": RouteRow("roles.manage", 200, "role"),
    "POST /settings/roles/delete/{name}": RouteRow("roles.manage", 303, "role"),
    "GET /settings/dead-letters": RouteRow("dead_letters.read"),
    "GET /settings/dead-letters/purge": RouteRow("dead_letters.purge"),
    "POST /settings/dead-letters/purge": RouteRow("dead_letters.purge", 303),
    "GET /settings/dead-letters/{id}": RouteRow("dead_letters.read", 200, "letter"),
    "POST /settings/dead-letters/{id}/replay": RouteRow("dead_letters.replay", 303, "letter"),
    "GET /settings/dead-letters/{id}/purge": RouteRow("dead_letters.purge", 200, "letter"),
    "POST /settings/dead-letters/{id}/purge": RouteRow("dead_letters.purge", 303, "letter"),
    "GET /settings/usage": RouteRow("usage.read"),
    "GET /tools/{slug}/session": RouteRow(_SESSIONS, 200, "shared_tool"),
    "POST /tools/{slug}/session": RouteRow("tool_sessions.create", 303, "shared_tool", {"title": "t"}),
    "GET /join/{token}": RouteRow(OPEN, 303, "session", but={"agent": 200, "nobody": 200, "foreign": 200}),
    "POST /join/{token}": RouteRow(OPEN, 303, "session", {"name": "Guest"}),
    "GET /tools/{slug}/session/{id}": RouteRow(_SESSIONS, 200, "session"),
    "POST /tools/{slug}/session/{id}": RouteRow(_SESSIONS, 303, "session", {"=/text": "x"}),
    "GET /tools/{slug}/session/{id}/part": RouteRow(_SESSIONS, 200, "session"),
    "GET /tools/{slug}/session/{id}/live": RouteRow(_SESSIONS, 200, "session"),
    "GET /tools/{slug}/session/{id}/answer/{submission}": RouteRow(_SESSIONS, 200, "session"),
    "GET /tools/{slug}/session/{id}/answers.json": RouteRow(_SESSIONS, 200, "session"),
    "GET /tools/{slug}/session/{id}/answers.csv": RouteRow(_SESSIONS, 200, "session"),
    "POST /tools/{slug}/session/{id}/close": RouteRow(_MANAGE, 303, "session"),
    "POST /tools/{slug}/session/{id}/reopen": RouteRow(_MANAGE, 303, "session"),
    "GET /tools/{slug}/session/{id}/cancel": RouteRow(_MANAGE, 200, "session"),
    "POST /tools/{slug}/session/{id}/cancel": RouteRow(_MANAGE, 303, "session"),
    "POST /tools/{slug}/session/{id}/share": RouteRow(_MANAGE, 200, "session"),
    "POST /tools/{slug}/session/{id}/unshare": RouteRow(_MANAGE, 303, "session"),
    "GET /embed/{token}": RouteRow(OPEN, 200, "embed"),
    "GET /embed/{token}/{slug}": RouteRow(OPEN, 200, "embed"),
    "POST /embed/{token}/{slug}": RouteRow(OPEN, 200, "embed", {"=/text": "x"}),
}
