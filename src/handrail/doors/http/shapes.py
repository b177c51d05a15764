"""Shapes: what answers look like, for the document. Answers are told as they are, not through these."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from handrail.core.define.call import Status
from handrail.core.define.decision import Verdict
from handrail.core.define.permission import Danger, Level, PermissionPolicy
from handrail.core.define.principal import KeyKind
from handrail.core.define.tool import Origin
from handrail.core.guard.approval import RequestStatus
from handrail.core.tell.letters import LetterStatus
from handrail.core.tell.runs import RunStatus
from handrail.identity.resolved import ResolvedKind


class Field(BaseModel):
    """One thing that is wrong."""

    path: str
    reason: str


class Error(BaseModel):
    """Why something was not done."""

    code: str
    message: str
    fields: list[Field] = []
    hint: str | None = None


class Refusal(BaseModel):
    """The one body of everything that is refused."""

    error: Error


class ToolLine(BaseModel):
    """What a list tells of a tool."""

    id: str
    slug: str
    name: str
    description: str
    category: str | None
    icon: str | None
    origin: Origin
    kind: ResolvedKind
    level: Level
    danger: Danger
    aliases: list[str]


class ToolPage(BaseModel):
    tools: list[ToolLine]
    next: str | None
    """Give it as `after` for the next page."""


class FoundTool(ToolLine):
    score: float
    matched: dict[str, list[str]]


class FoundTools(BaseModel):
    tools: list[FoundTool]


class Annotations(BaseModel):
    """What a client may rely on, from the level."""

    read_only: bool
    destructive: bool
    idempotent: bool


class ToolWhole(ToolLine):
    """Everything that one needs to call a tool, and to draw a form for it."""

    guidance: str
    digest: str
    visible: bool
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    level_varies: bool
    """Whether the level is a ceiling, and depends on the arguments."""
    policy: PermissionPolicy
    requires: str | None
    capabilities: list[str]
    timeout: float | None
    collaborative: bool
    annotations: Annotations
    form: dict[str, Any] | None
    sections: list[dict[str, Any]]
    verdict: Verdict | None
    """What is certain of a call before its arguments are known; none for a tool that is hidden."""
    varies: bool


class VersionLine(BaseModel):
    number: int
    hash: str
    saved_at: float
    saved_by: str | None
    note: str | None


class VersionPage(BaseModel):
    digest: str | None
    """Of the tool as it is now; none for one that cannot be used."""
    versions: list[VersionLine]
    next: int | None


class Repaired(BaseModel):
    path: str
    kind: str
    before: Any
    after: Any


class Asked(BaseModel):
    """The question that a call waits for."""

    id: str
    url: str


class Told(BaseModel):
    """How a call ended, or what it waits for."""

    status: Status | RunStatus
    success: bool
    code: str | None
    tool: str
    call_id: str
    run_id: str | None
    duration_ms: float
    repairs: list[Repaired]
    result: dict[str, Any]
    url: str
    """Where to ask how it stands."""
    approval: Asked | None = None


class Cancelled(BaseModel):
    call_id: str
    stopped: bool


class Step(BaseModel):
    layer: str
    verdict: Verdict
    rule: str | None
    code: str | None
    reason: str
    by: str | None
    decided: bool


class Explained(BaseModel):
    """What the guard would say to a call."""

    verdict: Verdict
    layer: str
    rule: str | None
    code: str | None
    reason: str
    by: str | None
    trace: list[Step]


class RunLine(BaseModel):
    id: str
    call_id: str
    session: str
    tool: str
    user: str | None
    agent: str | None
    source: str
    status: RunStatus
    code: str | None
    began_at: float
    ended_at: float | None


class RunPage(BaseModel):
    runs: list[RunLine]
    next: str | None


class RunWhole(RunLine):
    """A run; what it was given and what it yielded, for whoever may read that."""

    input: dict[str, Any] | None
    result: dict[str, Any] | None


class EventLine(BaseModel):
    """One event; what its type adds stands beside these."""

    id: str
    type: str
    seq: int
    position: int
    at: float
    tenant: str
    session: str
    call_id: str
    parent: str | None
    tool: str
    user: str | None
    agent: str | None
    source: str
    turn: int | None


class EventPage(BaseModel):
    events: list[EventLine]
    next: int | None


class SessionLine(BaseModel):
    id: str
    last_seq: int
    created_at: float
    updated_at: float


class SessionPage(BaseModel):
    sessions: list[SessionLine]
    next: str | None


class ApprovalLine(BaseModel):
    """A question to a person, with exactly what would run. Secrets are masked."""

    id: str
    url: str
    status: RequestStatus
    tool: str
    tool_digest: str
    level: Level
    danger: Danger
    reason: str
    arguments: dict[str, Any]
    arguments_digest: str
    preview: str | None
    """What the call would have changed when it was asked, for whoever may answer."""
    edited_arguments: dict[str, Any] | None
    effective_digest: str | None
    tenant: str
    user: str | None
    agent: str | None
    source: str
    session: str | None
    call_id: str
    call_url: str
    answered_by: str | None
    """Who may answer: a reviewer, or the caller."""
    created_at: float
    expires_at: float | None
    quorum: int
    four_eyes: bool
    votes: list[str]
    decided_by: str | None
    decided_at: float | None
    repairs: list[Repaired]
    decision: Explained


class ApprovalPage(BaseModel):
    approvals: list[ApprovalLine]
    next: str | None


class LetterLine(BaseModel):
    """A call whose body failed. Secrets are masked."""

    id: str
    status: LetterStatus
    tool: str
    args: dict[str, Any]
    error: str
    code: str | None
    attempts: int
    earlier_errors: list[str]
    at: float
    tenant: str
    session: str
    user: str | None
    agent: str | None
    source: str
    call_id: str
    replay_of: str | None
    replays: list[str]


class LetterPage(BaseModel):
    dead_letters: list[LetterLine]
    next: str | None


class Discarded(BaseModel):
    discarded: int


class Purged(BaseModel):
    purged: int


class KeyLine(BaseModel):
    id: str
    name: str
    kind: KeyKind
    user: str | None
    agent: str | None
    permissions: list[str]
    tools: list[str] | None
    ceiling: Level | None
    created_at: float
    created_by: str
    expires_at: float | None
    revoked_at: float | None
    last_used_at: float | None


class KeyList(BaseModel):
    keys: list[KeyLine]


class MadeKey(KeyLine):
    key: str
    """The key itself: shown here and never again."""


class Me(BaseModel):
    tenant: str
    user: str | None
    agent: str | None
    roles: list[str]
    permissions: list[str]
    key: KeyKind
    source: str
    tools: list[str] | None
    ceiling: Level | None


class MemberLine(BaseModel):
    id: str
    email: str
    name: str
    roles: list[str]
    disabled: bool


class MemberList(BaseModel):
    members: list[MemberLine]


class RoleList(BaseModel):
    roles: dict[str, list[str]]


class UsageLine(BaseModel):
    """Counts, by what was asked for."""

    by: dict[str, str]
    calls: int
    runs: int
    completed: int
    failed: int
    refused: int


class UsageList(BaseModel):
    usage: list[UsageLine]
