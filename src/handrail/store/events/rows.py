"""An event as a row of `session_events`, and back: columns for lists and filters, JSON for the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from hashlib import sha256
from typing import Any, Protocol

from handrail.core.define.call import BoundCall
from handrail.core.define.principal import Principal
from handrail.core.define.result import Result
from handrail.core.tell import events
from handrail.store.blobs import hash_of
from handrail.store.codec import decode_repairs, dump, encode_repairs, fit_column, load
from handrail.store.tables.event_log import session_events


def _encode_result(result: Result) -> dict[str, Any]:
    """The envelope, exactly: fields that are None or empty are left out."""
    data: dict[str, Any] = {"success": result.success}
    if result.data is not None:
        data["data"] = result.data
    for name in ("summary", "markdown", "error", "code", "title", "output"):
        if (text := getattr(result, name)) is not None:
            data[name] = text
    if result.metadata:
        data["metadata"] = dict(result.metadata)
    if result.attachments:
        data["attachments"] = [attachment.to_log() for attachment in result.attachments]
    return data


def _encode_started(event: events.ToolStarted) -> dict[str, Any]:
    payload: dict[str, Any] = {"input": event.input}
    if event.repairs:
        payload["repairs"] = encode_repairs(event.repairs)
    if not event.repeatable:
        payload["repeatable"] = False
    return payload


def _encode_failed(event: events.ToolFailed) -> dict[str, Any]:
    payload = _encode_end(event)
    if event.layer is not None:
        payload["layer"] = event.layer
    if event.rule is not None:
        payload["rule"] = event.rule
    return payload


def _encode_end(event: events.ToolFailed | events.ToolCancelled) -> dict[str, Any]:
    result = _encode_result(event.result)
    return {"result": result, "duration_ms": event.duration_ms, "input": event.input}


PAYLOAD_ENCODERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "tool.started": _encode_started,
    "tool.output_appended": lambda event: {"chunk": event.chunk},
    "tool.completed": lambda event: {
        "result": _encode_result(event.result),
        "duration_ms": event.duration_ms,
    },
    "tool.failed": _encode_failed,
    "tool.cancelled": _encode_end,
    "tool.needs_approval": lambda event: {
        "approval_id": event.approval_id,
        "input": event.input,
        "reason": event.reason,
        "repairs": encode_repairs(event.repairs),
    },
    "tool.approved": lambda event: {
        "approval_id": event.approval_id,
        "by": event.by,
        "input": event.input,
        "edited": event.edited,
    },
}
_EVENT_TYPES: tuple[type[events.Event], ...] = (
    *(events.ToolStarted, events.OutputAppended, events.ToolCompleted, events.ToolFailed),
    *(events.ToolCancelled, events.NeedsApproval, events.ToolApproved),
)
EVENT_FIELDS: dict[str, tuple[Callable[..., events.Event], frozenset[str]]] = {
    kind.type: (kind, frozenset(field.name for field in fields(kind) if field.init)) for kind in _EVENT_TYPES
}
"""By type: the class of an event, and its fields; a payload has them by the same names."""
_WITH_FILES = (events.ToolCompleted, events.ToolFailed)

COLUMNS = tuple(session_events.c.keys())
NAME_COLUMNS = COLUMNS[COLUMNS.index("call_id") : COLUMNS.index("hash")]

BLOB_THRESHOLD = 64 * 1024
"""A larger payload is stored once among the blobs, by its hash."""

MAX_FILE_BYTES = 10 * 2**20
"""A larger file is named in the event and not stored."""
END_TYPES = frozenset({"tool.completed", "tool.failed", "tool.cancelled"})


class EventRow(Protocol):
    """The columns of a row, by their names."""

    def __getitem__(self, name: str, /) -> Any: ...


@dataclass(slots=True, init=False, eq=False, repr=False)
class EncodedEvent:
    """An event that is encoded and waits for its number."""

    event: events.Event
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
    content: str
    """What the hash of the row is made of, besides its position in the chain."""


def encode_event(event: events.Event) -> EncodedEvent:
    """The event as it is now; what a body changes afterwards does not reach it."""
    call = event.call
    odd: dict[str, Any] = {}
    tenant, user, agent, principal_rest = _principal_columns(call.principal)
    kind = event.type
    payload_data = PAYLOAD_ENCODERS[kind](event)
    payload_data["call"] = rest = dict(principal_rest)
    row = EncodedEvent()
    row.event, row.tenant, row.type = event, tenant, kind
    call_id = _name_column("id", call.id, odd) or ""
    row.session = _name_column("session", event.session, odd) or ""
    tool = _name_column("tool", event.tool, odd)
    source = _name_column("source", call.source, odd)
    run_id = row.run_id = _name_column("run", getattr(event, "run_id", None), odd)
    result = payload_data.get("result")
    code = None if result is None or (code := result.get("code")) is None else _name_column("code", code, {})
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
    payload = row.payload = dump(payload_data)
    row.blob = sha256(payload.encode()).hexdigest() if len(payload) > BLOB_THRESHOLD else None
    row.files = _files(event.result) if isinstance(event, _WITH_FILES) else None
    names = row.names = (call_id, run_id, tool, user, agent, source, code)
    row.content = hash_input(kind, event.at, names, row.blob, payload)
    return row


def _files(result: Result) -> dict[str, bytes] | None:
    if not result.attachments:
        return None
    contents = [file.data for file in result.attachments if file.data is not None]
    return {hash_of(content): content for content in contents if len(content) <= MAX_FILE_BYTES}


def hash_input(kind: str, at: float, names: tuple[Any, ...], blob: str | None, payload: str) -> str:
    """The content of a row, a line for each column: no name holds a line break, so no two rows are equal."""
    lines = "\n".join(["\t" if name is None else name if type(name) is str else repr(name) for name in names])
    return f"{kind}\n{at!r}\n{lines}\n{'blob ' + blob if blob else payload}"


def chain_hash(
    previous: str, tenant: str, session: str, seq: int, position: int, started_at: float | None, content: str
) -> str:
    """The hash of a row: over the hash before it, its position, and its content."""
    text = f"{previous}\n{tenant}\n{session}\n{seq}\n{position}\n{started_at!r}\n{content}"
    return sha256(text.encode()).hexdigest()


def decode_event(row: EventRow, payload: str | None = None) -> events.Event:
    """The event that a row holds; `payload` is the content of its blob, if it has one."""
    data = load(row["payload"] if payload is None else payload)
    rest = data.pop("call")
    odd = rest.get("odd", {})
    call_id = odd.get("id", row["call_id"])
    session = odd.get("session", row["session_id"])
    if session == f"call:{call_id}":
        session = rest.get("session")
    tool = odd.get("tool", row["tool"])
    call = BoundCall(
        rest.get("tool", tool),
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
            rest.get("key_id"),
        ),
        call_id,
        odd.get("source", row["source"]),
        session,
        rest.get("turn"),
        rest.get("key"),
        rest.get("digest"),
        rest.get("message"),
        rest.get("parent"),
        rest.get("depth", 0),
    )
    kind, names = EVENT_FIELDS[row["type"]]
    if "run_id" in names:
        data["run_id"] = odd.get("run", row["run_id"])
    if "result" in data:
        data["result"] = Result.from_dict(data["result"])
    if "repairs" in data:
        data["repairs"] = decode_repairs(data["repairs"])
    if not data.keys() <= names:  # a later version has said more
        data = {name: data[name] for name in data.keys() & names}
    event = kind(call, tool, row["at"], **data)
    object.__setattr__(event, "seq", row["seq"])
    object.__setattr__(event, "position", row["position"])
    return event


def _name_column(what: str, text: Any, odd: dict[str, Any]) -> str | None:
    if text is None:
        return None
    if type(text) is not str:
        odd[what] = text
        return fit_column(str(text))
    held = fit_column(text)
    if held is not text:
        odd[what] = text
    return held


@lru_cache(maxsize=1_000)
def _principal_columns(principal: Principal) -> tuple[str, str | None, str | None, Mapping[str, Any]]:
    """The columns of a principal, and what else there is of it."""
    if fit_column(principal.tenant) != principal.tenant:
        raise ValueError(f"{principal.tenant!r} is no tenant's slug: short, and of printable characters.")
    odd: dict[str, Any] = {}
    user, agent = _name_column("user", principal.user, odd), _name_column("agent", principal.agent, odd)
    rest: dict[str, Any] = {
        **odd,
        "roles": sorted(principal.roles),
        "permissions": sorted(principal.permissions),
        "workspace": principal.workspace,
        "kind": principal.key if principal.key != "agent" else None,
        "ancestors": list(principal.ancestors),
        "ceiling": principal.ceiling,
        "embed": principal.embed or None,
        "key_id": principal.key_id,
    }
    filled = {name: value for name, value in rest.items() if value not in (None, [])}
    if principal.scope is not None:
        filled["scope"] = list(principal.scope)  # an empty one reaches nothing, and must not become none
    return principal.tenant, user, agent, filled
