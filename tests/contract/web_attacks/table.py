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
class Row:
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

TABLE: dict[str, Row] = {
    "GET /live": Row(SIGNED_IN),
    "GET /palette": Row(SIGNED_IN),
    "GET /sign-in": Row(OPEN, 303, but={"nobody": 200}),
    "POST /sign-in": Row(OPEN, 400, form={"email": "a@example.com", "password": ""}),
    "POST /sign-out": Row(OPEN, 303),
    "GET /switch": Row(PERSON),
    "POST /switch": Row(PERSON, 303, form={"tenant": "here"}, but={"foreign": 404}),
    "GET /": Row(SIGNED_IN),
    "GET /home/part": Row(SIGNED_IN),
    "GET /approvals/badge": Row(SIGNED_IN),
    "GET /approvals": Row(SIGNED_IN),
    "GET /approvals/list": Row(SIGNED_IN),
    "GET /approvals/{id}": Row(_SEEN, 200, "approval"),
    "GET /approvals/{id}/card": Row(_SEEN, 200, "approval"),
    "GET /approvals/{id}/edit": Row(_DECIDES, 200, "approval"),
    "POST /approvals/{id}/edit": Row(_DECIDES, 200, "approval", {**_SHOWN, **_JSON}),
    "POST /approvals/{id}/edit/back": Row(_DECIDES, 200, "approval", _SHOWN),
    "GET /approvals/{id}/standing": Row(_SEEN, 200, "approval"),
    "POST /approvals/{id}/approve": Row(_DECIDES, 303, "approval", _SHOWN),
    "POST /approvals/{id}/reject": Row(_DECIDES, 303, "approval", _SHOWN),
    "POST /approvals/{id}/respond": Row(_DECIDES, 303, "approval", {**_SHOWN, "output": "x"}),
    "GET /tools": Row(SIGNED_IN),
    "GET /tools/{slug}": Row(SIGNED_IN, 200, "tool"),
    "POST /tools/{slug}/form": Row(SIGNED_IN, 200, "tool", _JSON),
    "POST /tools/{slug}/check": Row(SIGNED_IN, 200, "tool", _JSON),
    "GET /tools/{slug}/options": Row(SIGNED_IN, 200, "tool"),
    "POST /tools/{slug}/run": Row(SIGNED_IN, 303, "tool", _JSON),
    "GET /tools/{slug}/call/{call}": Row(_EVENTS, 303, "done"),
    "GET /tools/{slug}/call/{call}/output": Row(_EVENTS, 200, "done"),
    "POST /tools/{slug}/call/{call}/cancel": Row("jobs.cancel", 303, "waiting"),
    "POST /tools/{slug}/call/{call}/confirm": Row(OWN, 303, "waiting"),
    "GET /tools/{slug}/history": Row(SIGNED_IN, 200, "tool"),
    "POST /tools/{slug}/saved": Row(SIGNED_IN, 200, "tool", _JSON, but={"agent": 422}),
    "POST /tools/{slug}/saved/rename": Row(
        SIGNED_IN, 303, "tool", {"_from": "n", "_name": "m"}, {"agent": 422}
    ),
    "POST /tools/{slug}/saved/remove": Row(SIGNED_IN, 303, "tool", {"_name": "n"}, but={"agent": 409}),
    "POST /tools/{slug}/link": Row(SIGNED_IN, 200, "tool", _JSON),
    "POST /tools/{slug}/star": Row(SIGNED_IN, 303, "tool", {"on": "1"}, but={"agent": 409}),
    "GET /runs": Row(SIGNED_IN),
    "GET /runs/{id}": Row(_RUN, 200, "run"),
    "GET /runs/{id}/part": Row(_RUN, 200, "run"),
    "GET /runs/{id}/story": Row(_RUN, 200, "run"),
    "GET /runs/{id}/output": Row(_EVENTS, 200, "run"),
    "GET /runs/{id}/events/{seq}": Row(_EVENTS, 200, "run"),
    "POST /runs/{id}/cancel": Row("jobs.cancel", 303, "waiting"),
    "GET /runs/{id}/result": Row(_EVENTS, 200, "run"),
    "GET /runs/{id}/result.json": Row(_EVENTS, 200, "run"),
    "GET /runs/{id}/result.csv": Row(_EVENTS, 200, "run", query="?section=rows"),
    "GET /runs/{id}/frames/{section:path}": Row(_EVENTS, 200, "run"),
    "GET /runs/{id}/frame/{section:path}": Row(_EVENTS, 200, "run"),
    "GET /runs/{id}/files/{number}": Row(_EVENTS, 200, "run"),
    "GET /runs/{id}/input": Row(_EVENTS, 200, "run"),
    "GET /runs/{id}/why": Row(_EVENTS, 200, "run"),
    "GET /sessions": Row(SIGNED_IN),
    "GET /sessions/{id:path}": Row(_EVENTS, 200, "together"),
    "GET /settings": Row(SIGNED_IN, 303),
    "GET /settings/profile": Row(PERSON),
    "POST /settings/profile/name": Row(PERSON, 303, form={"name": "Somebody"}),
    "POST /settings/profile/password": Row(PERSON, 400, form={"new": "a", "again": "b"}),
    "POST /settings/profile/theme": Row(PERSON, 303, form={"theme": "dark"}),
    "GET /settings/keys": Row("keys.manage"),
    "GET /settings/keys/new": Row("keys.manage"),
    "POST /settings/keys": Row("keys.manage", 400),
    "GET /settings/keys/{id}/revoke": Row("keys.manage", 200, "key"),
    "POST /settings/keys/{id}/revoke": Row("keys.manage", 303, "key"),
    "GET /settings/embeds": Row("embeds.manage"),
    "GET /settings/embeds/new": Row("embeds.manage"),
    "POST /settings/embeds": Row("embeds.manage", 303, form=_EMBED),
    "GET /settings/embeds/{id}": Row("embeds.manage", 200, "embed"),
    "POST /settings/embeds/{id}": Row("embeds.manage", 303, "embed", _EMBED),
    "POST /settings/embeds/{id}/switch": Row("embeds.manage", 303, "embed"),
    "GET /settings/embeds/{id}/revoke": Row("embeds.manage", 200, "embed"),
    "POST /settings/embeds/{id}/revoke": Row("embeds.manage", 303, "embed"),
    "GET /settings/members": Row("members.manage"),
    "POST /settings/members": Row("members.manage", 400),
    "GET /settings/members/{id}": Row("members.manage", 200, "member"),
    "POST /settings/members/{id}": Row("members.manage", 303, "member", {"roles": "viewer"}),
    "GET /settings/members/{id}/remove": Row("members.manage", 200, "member"),
    "POST /settings/members/{id}/remove": Row("members.manage", 303, "member"),
    "GET /settings/roles": Row("roles.manage"),
    "GET /settings/roles/new": Row("roles.manage"),
    "GET /settings/roles/edit/{name}": Row("roles.manage", 200, "role"),
    "POST /settings/roles": Row("roles.manage", 303, "role", {"was": "{name}", "permissions": "runs.read"}),
    "GET /settings/roles/delete/{name}": Row("roles.manage", 200, "role"),
    "POST /settings/roles/delete/{name}": Row("roles.manage", 303, "role"),
    "GET /settings/dead-letters": Row("dead_letters.read"),
    "GET /settings/dead-letters/purge": Row("dead_letters.purge"),
    "POST /settings/dead-letters/purge": Row("dead_letters.purge", 303),
    "GET /settings/dead-letters/{id}": Row("dead_letters.read", 200, "letter"),
    "POST /settings/dead-letters/{id}/replay": Row("dead_letters.replay", 303, "letter"),
    "GET /settings/dead-letters/{id}/purge": Row("dead_letters.purge", 200, "letter"),
    "POST /settings/dead-letters/{id}/purge": Row("dead_letters.purge", 303, "letter"),
    "GET /settings/usage": Row("usage.read"),
    "GET /tools/{slug}/session": Row(_SESSIONS, 200, "shared_tool"),
    "POST /tools/{slug}/session": Row("tool_sessions.create", 303, "shared_tool", {"title": "t"}),
    "GET /join/{token}": Row(OPEN, 303, "session", but={"agent": 200, "nobody": 200, "foreign": 200}),
    "POST /join/{token}": Row(OPEN, 303, "session", {"name": "Guest"}),
    "GET /tools/{slug}/session/{id}": Row(_SESSIONS, 200, "session"),
    "POST /tools/{slug}/session/{id}": Row(_SESSIONS, 303, "session", {"=/text": "x"}),
    "GET /tools/{slug}/session/{id}/part": Row(_SESSIONS, 200, "session"),
    "GET /tools/{slug}/session/{id}/live": Row(_SESSIONS, 200, "session"),
    "GET /tools/{slug}/session/{id}/answer/{submission}": Row(_SESSIONS, 200, "session"),
    "GET /tools/{slug}/session/{id}/answers.json": Row(_SESSIONS, 200, "session"),
    "GET /tools/{slug}/session/{id}/answers.csv": Row(_SESSIONS, 200, "session"),
    "POST /tools/{slug}/session/{id}/close": Row(_MANAGE, 303, "session"),
    "POST /tools/{slug}/session/{id}/reopen": Row(_MANAGE, 303, "session"),
    "GET /tools/{slug}/session/{id}/cancel": Row(_MANAGE, 200, "session"),
    "POST /tools/{slug}/session/{id}/cancel": Row(_MANAGE, 303, "session"),
    "POST /tools/{slug}/session/{id}/share": Row(_MANAGE, 200, "session"),
    "POST /tools/{slug}/session/{id}/unshare": Row(_MANAGE, 303, "session"),
    "GET /embed/{token}": Row(OPEN, 200, "embed"),
    "GET /embed/{token}/{slug}": Row(OPEN, 200, "embed"),
    "POST /embed/{token}/{slug}": Row(OPEN, 200, "embed", {"=/text": "x"}),
}
