"""Rows: an event as it stands in `session_events`, and back.

Columns hold what lists and filters ask for; the rest is JSON in `payload`. A name that a column cannot hold
as it is stands there by proxy, and in the payload in full.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any, Protocol

from handrail.core.define.call import Call
from handrail.core.define.principal import Principal
from handrail.core.define.result import Result
from handrail.core.tell.events import Event, ToolCompleted, ToolFailed
from handrail.store.blobs import hash_of
from handrail.store.events.payloads import MAKE, TELL
from handrail.store.text import column, dump, load

COLUMNS = (
    "tenant_id",
    "session_id",
    "seq",
    "position",
    "type",
    "at",
    "begun",
    "call_id",
    "run_id",
    "tool",
    "user_id",
    "agent",
    "source",
    "code",
    "hash",
    "blob",
    "payload",
)
NAMES = COLUMNS[COLUMNS.index("call_id") : COLUMNS.index("hash")]
LARGE = 64 * 1024
"""A payload of more bytes is kept once among the blobs, by its hash."""
LARGEST_FILE = 10 * 2**20
"""A file of more bytes is told of and not kept."""
ENDS = frozenset({"tool.completed", "tool.failed", "tool.cancelled"})


class Row(Protocol):
    """The columns of a row, by their names."""

    def __getitem__(self, name: str, /) -> Any: ...


class Written:
    """An event that is encoded and waits for its number."""

    __slots__ = ("blob", "event", "files", "names", "payload", "run_id", "said", "session", "tenant", "type")

    event: Event
    tenant: str
    session: str
    type: str
    run_id: str | None
    names: tuple[Any, ...]
    """The columns from `call_id` to `code`."""
    payload: str
    """What `payload` holds, or the blob when there is one."""
    blob: str | None
    """The hash of a large payload."""
    files: dict[str, bytes] | None
    """What came with a result, by hash; the payload names each by it."""
    said: str
    """What the hash of the row is made of, besides its place in the chain."""


def encode(event: Event) -> Written:
    """The event as it is now; what a body changes afterwards does not reach it."""
    call = event.call
    odd: dict[str, Any] = {}
    principal = call.principal
    if principal is None:
        raise ValueError("An event without a principal belongs to no tenant and is not stored.")
    tenant, user, agent, who = _who(principal)
    kind = event.type
    told = TELL[kind](event)
    told["call"] = rest = dict(who)
    row = Written()
    row.event, row.tenant, row.type = event, tenant, kind
    call_id = _name("id", call.id, odd) or ""
    row.session = _name("session", event.session, odd) or ""
    tool = _name("tool", event.tool, odd)
    source = _name("source", call.source, odd)
    run_id = row.run_id = _name("run", getattr(event, "run_id", None), odd)
    result = told.get("result")
    code = None if result is None or (code := result.get("code")) is None else _name("code", code, {})
    if odd:
        rest["odd"] = odd
    if call.tool != event.tool:
        rest["tool"] = call.tool
    if call.session is not None and event.session == f"call:{call.id}":
        rest["session"] = call.session
    if call.idempotency_key is not None:
        rest["key"] = call.idempotency_key
    if call.digest is not None:
        rest["digest"] = call.digest
    if call.message is not None:
        rest["message"] = call.message
    if call.turn is not None:
        rest["turn"] = call.turn
    if call.parent is not None:
        rest["parent"] = call.parent
    if call.depth:
        rest["depth"] = call.depth
    payload = row.payload = dump(told)
    row.blob = sha256(payload.encode()).hexdigest() if len(payload) > LARGE else None
    row.files = _files(event.result) if isinstance(event, ToolCompleted | ToolFailed) else None
    names = row.names = (call_id, run_id, tool, user, agent, source, code)
    row.said = said(kind, event.at, names, row.blob, payload)
    return row


def _files(result: Result) -> dict[str, bytes] | None:
    if not result.attachments:
        return None
    files = [one.data for one in result.attachments if one.data is not None]
    return {hash_of(one): one for one in files if len(one) <= LARGEST_FILE}


def said(kind: str, at: float, names: tuple[Any, ...], blob: str | None, payload: str) -> str:
    """What a row says, on one line a column: no name holds a line break, so no two rows say the same."""
    marked = "\n".join(["\t" if one is None else one if type(one) is str else repr(one) for one in names])
    return f"{kind}\n{at!r}\n{marked}\n{'blob ' + blob if blob else payload}"


def chained(
    previous: str, tenant: str, session: str, seq: int, position: int, begun: float | None, said: str
) -> str:
    """The hash of a row: over the hash before it, its place, and what it says."""
    text = f"{previous}\n{tenant}\n{session}\n{seq}\n{position}\n{begun!r}\n{said}"
    return sha256(text.encode()).hexdigest()


def decode(row: Row, payload: str | None = None) -> Event:
    """The event that a row holds; `payload` is the content of its blob, if it has one."""
    told = load(row["payload"] if payload is None else payload)
    rest = told.pop("call")
    odd = rest.get("odd", {})
    call_id = odd.get("id", row["call_id"])
    session = odd.get("session", row["session_id"])
    if session == f"call:{call_id}":
        session = rest.get("session")
    tool = odd.get("tool", row["tool"])
    call = Call(
        rest.get("tool", tool),
        None,
        Principal(
            row["tenant_id"],
            odd.get("user", rest.get("user", row["user_id"])),
            rest.get("roles", ()),
            rest.get("permissions", ()),
            odd.get("agent", rest.get("agent", row["agent"])),
            rest.get("workspace"),
            rest.get("kind", "agent"),
            rest.get("ancestors", ()),
            rest.get("scope"),
            rest.get("ceiling"),
            rest.get("embed", False),
        ),
        odd.get("source", row["source"]),
        session,
        call_id or None,
        rest.get("turn"),
        rest.get("key"),
        rest.get("digest"),
        rest.get("message"),
        rest.get("parent"),
        rest.get("depth", 0),
    )
    run_id = odd.get("run", row["run_id"])
    event = MAKE[row["type"]](call, tool, row["at"], run_id, told)
    object.__setattr__(event, "seq", row["seq"])
    object.__setattr__(event, "position", row["position"])
    return event


def _name(what: str, text: Any, odd: dict[str, Any]) -> str | None:
    if text is None:
        return None
    if type(text) is not str:
        odd[what] = text
        return column(str(text))
    held = column(text)
    if held is not text:
        odd[what] = text
    return held


@lru_cache(maxsize=1_000)
def _who(principal: Principal) -> tuple[str, str | None, str | None, Mapping[str, Any]]:
    """The columns of a principal, and what else there is of it."""
    if column(principal.tenant) != principal.tenant:
        raise ValueError(f"{principal.tenant!r} is no tenant's slug: short, and of printable characters.")
    odd: dict[str, Any] = {}
    user, agent = _name("user", principal.user, odd), _name("agent", principal.agent, odd)
    rest: dict[str, Any] = {
        **odd,
        "roles": sorted(principal.roles),
        "permissions": sorted(principal.permissions),
        "workspace": principal.workspace,
        "kind": principal.key if principal.key != "agent" else None,
        "ancestors": list(principal.ancestors),
        "ceiling": principal.ceiling,
        "embed": principal.embed or None,
    }
    told = {name: part for name, part in rest.items() if part not in (None, [])}
    if principal.scope is not None:
        told["scope"] = list(principal.scope)  # an empty one reaches nothing, and must not become none
    return principal.tenant, user, agent, told
