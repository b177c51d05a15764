"""Call and Outcome: what goes into the pipeline and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from handrail.core.define.decision import Decision
from handrail.core.define.levels import Source
from handrail.core.define.principal import Principal
from handrail.core.define.result import MODEL_LIMIT, Result
from handrail.core.frozen_record import constructor_of, record

Status = Literal[
    "completed",
    "failed",
    "refused",
    "pending",
    "queued",
    "duplicate",
    "cancelled",
    "needs_review",
]


@record
class Call:
    """One request to run a tool, as a door hands it over."""

    tool: str
    args: Mapping[str, Any] | str | None = None
    """Raw arguments: a mapping, or the JSON text that a model sent."""
    principal: Principal | None = None
    source: Source = "agent"
    session: str | None = None
    id: str | None = None
    turn: int | None = None
    idempotency_key: str | None = None
    digest: str | None = None
    """The definition digest the caller saw; another one now refuses the call as stale."""
    message: str | None = None
    parent: str | None = None
    """The call this one is nested in, or replays; only a nested one has a depth."""
    depth: int = 0
    durable_start: bool = False
    """Whether the answer waits until `tool.started` is durable, since it names the run."""
    approval_key: str | None = None
    """An idempotency key that counts only if the call has to ask a person."""


@record
class BoundCall:
    """A call on its way: who makes it and its id are known. Its arguments travel beside it."""

    tool: str
    principal: Principal
    id: str
    source: Source = "agent"
    session: str | None = None
    turn: int | None = None
    idempotency_key: str | None = None
    digest: str | None = None
    message: str | None = None
    parent: str | None = None
    depth: int = 0
    durable_start: bool = False
    approval_key: str | None = None

    @property
    def tenant(self) -> str:
        return self.principal.tenant

    @property
    def log_session(self) -> str:
        """The session under which its events stand: the caller's, or one of this call alone."""
        return self.session or f"call:{self.id}"


@record
class Repair:
    """One lossless correction of a weak model's argument."""

    path: str
    """Where, as dotted names and indices; empty for the arguments as a whole."""
    kind: str
    before: Any
    after: Any

    def to_dict(self) -> dict[str, Any]:
        return {"path": self.path, "kind": self.kind, "before": self.before, "after": self.after}

    def __str__(self) -> str:
        where = self.path or "arguments"
        return f"{where}: {self.before!r} became {self.after!r} ({self.kind})"


@record
class FieldError:
    """One argument that is wrong, in words that let a model repair the call."""

    path: str
    reason: str
    missing: bool = False

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" if self.path else self.reason


@record
class Outcome:
    """How a call ended."""

    status: Status
    result: Result
    call_id: str
    tool: str
    """The canonical id, or the name that was asked for when there is no such tool."""
    decision: Decision | None = None
    run_id: str | None = None
    """The id of the `tool.started` event; None when the body never began."""
    approval_id: str | None = None
    duration_ms: float = 0.0
    repairs: tuple[Repair, ...] = ()

    @property
    def code(self) -> str | None:
        return self.result.code

    @property
    def ok(self) -> bool:
        """Whether the tool did its work, now or earlier under the same key."""
        return self.result.success and self.status in ("completed", "duplicate")

    def to_model(self, limit: int = MODEL_LIMIT) -> str:
        """What the model reads; what is cut can be read on with the call's id as handle."""
        return self.result.to_model(limit, self.call_id)

    def to_mcp(self, limit: int = MODEL_LIMIT) -> dict[str, Any]:
        return self.result.to_mcp(limit, self.call_id)

    def to_langchain(self, limit: int = MODEL_LIMIT) -> tuple[str, dict[str, Any]]:
        return self.result.to_langchain(limit, self.call_id)

    def to_legacy_run(self) -> dict[str, Any]:
        return self.result.to_legacy_run(self.duration_ms, self.run_id)


bind_call = constructor_of(BoundCall)
make_outcome = constructor_of(Outcome)
