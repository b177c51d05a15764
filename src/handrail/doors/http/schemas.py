"""Response schemas for the OpenAPI document. Responses are sent as they are, not through these.

What is sent as a dataclass is described by its own fields, so that the two cannot drift apart; what a route
flattens or renames is written out.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from types import GenericAlias, NoneType
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from handrail.core.define.call import Repair, Status
from handrail.core.define.decision import AnsweredBy, Verdict
from handrail.core.define.levels import Danger, Level, PermissionPolicy
from handrail.core.define.principal import KeyKind
from handrail.core.define.tool import Origin
from handrail.core.guard.approval_request import RequestStatus
from handrail.core.tell.counts import Counts
from handrail.core.tell.dead_letters import DeadLetterStatus
from handrail.core.tell.runs import Run, RunStatus
from handrail.identity.tenant_tools import ResolvedKind
from handrail.store.api_keys import ApiKey
from handrail.store.embeds import Embed
from handrail.store.events.queries import SessionEntry
from handrail.store.tool_sessions import ToolSession, ToolSessionSubmission
from handrail.store.versions import Version


def model(name: str, doc: str | None = None, /, **types: Any) -> type[BaseModel]:
    """A model of a few fields, all of them required."""
    definitions: dict[str, Any] = {field: (type, ...) for field, type in types.items()}
    return create_model(name, __doc__=doc, **definitions)


def schema_of(
    source: type, name: str, doc: str | None = None, /, omit: Collection[str] = (), **more: Any
) -> type[BaseModel]:
    """A dataclass as it is sent. Its fields with `repr=False` are digests and sealed tokens: never sent."""
    types = get_type_hints(source)
    sent = [field.name for field in fields(source) if field.repr and field.name not in omit]
    return model(name, doc, **{field: types[field] for field in sent}, **more)


def listing(name: str, /, **items: type[BaseModel]) -> type[BaseModel]:
    """A whole list, under its one name."""
    return model(name, **{field: list_of(item) for field, item in items.items()})


def list_of(item: type[BaseModel]) -> GenericAlias:
    return GenericAlias(list, (item,))


def page(name: str, /, cursor: Any = str | None, **items: type[BaseModel]) -> type[BaseModel]:
    """A part of a list, and where the next one begins."""
    following = Field(description="Give it as `after` for the next page.")
    return create_model(name, __base__=listing(name, **items), next=(cursor, following))


class ErrorField(BaseModel):
    """One thing that is wrong."""

    path: str
    reason: str


class ErrorDetail(BaseModel):
    """Why something was not done."""

    code: str
    message: str
    fields: list[ErrorField] = []
    hint: str | None = None


class ErrorBody(BaseModel):
    """The one body of everything that is refused."""

    error: ErrorDetail


class ToolSummary(BaseModel):
    """A tool in a list."""

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


class ToolSearchHit(ToolSummary):
    score: float
    matched: dict[str, list[str]]


class ToolHints(BaseModel):
    """What a client may rely on, from the level."""

    read_only: bool
    destructive: bool
    idempotent: bool


class ToolDetail(ToolSummary):
    """Everything that one needs to call a tool, and to render a form for it."""

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
    annotations: ToolHints
    form: dict[str, Any] | None
    sections: list[dict[str, Any]]
    verdict: Verdict | None
    """What is certain of a call before its arguments are known; none for a tool that is hidden."""
    varies: bool


ToolPage = page("ToolPage", tools=ToolSummary)
ToolSearchResults = listing("ToolSearchResults", tools=ToolSearchHit)
VersionSummary = schema_of(Version, "VersionSummary")
VersionPage = model(
    "VersionPage",
    "The digest is that of the tool as it is now: null for one that cannot be used.",
    digest=str | None,
    versions=list_of(VersionSummary),
    next=int | None,
)


class ApprovalLink(BaseModel):
    """The question that a call waits for."""

    id: str
    url: str


class CallOutcome(BaseModel):
    """How a call ended, or what it waits for."""

    status: Status | RunStatus
    success: bool
    code: str | None
    tool: str
    call_id: str
    run_id: str | None
    duration_ms: float
    repairs: list[Repair]
    result: dict[str, Any]
    url: str
    """Where to ask how it stands."""
    approval: ApprovalLink | None = None


class DecisionStep(BaseModel):
    layer: str
    verdict: Verdict
    rule: str | None
    code: str | None
    reason: str
    by: AnsweredBy | None
    decided: bool


class DecisionTrace(BaseModel):
    """What the guard would say to a call."""

    verdict: Verdict
    layer: str
    rule: str | None
    code: str | None
    reason: str
    by: AnsweredBy | None
    trace: list[DecisionStep]


class UndoOutcome(BaseModel):
    """What takes a call back; without an outcome where it was only asked for."""

    undoes: str
    tool: str
    arguments: dict[str, Any]
    decision: DecisionTrace
    outcome: CallOutcome | None


CancelResult = model("CancelResult", call_id=str, stopped=bool)
RunSummary = schema_of(Run, "RunSummary")
RunPage = page("RunPage", runs=RunSummary)
RunDetail = schema_of(
    Run,
    "RunDetail",
    "A run; what it was given and what it yielded, for whoever may read that.",
    input=dict[str, Any] | None,
    result=dict[str, Any] | None,
)


class EventSummary(BaseModel):
    """One event; what its type adds stands beside these."""

    model_config = ConfigDict(extra="allow")

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


EventPage = page("EventPage", cursor=int | None, events=EventSummary)
SessionPage = page("SessionPage", sessions=schema_of(SessionEntry, "SessionSummary"))


class ApprovalDetail(BaseModel):
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
    answered_by: AnsweredBy | None
    created_at: float
    expires_at: float | None
    quorum: int
    four_eyes: bool
    votes: list[str]
    decided_by: str | None
    decided_at: float | None
    repairs: list[Repair]
    decision: DecisionTrace


ApprovalPage = page("ApprovalPage", approvals=ApprovalDetail)


class DeadLetterDetail(BaseModel):
    """A call whose body failed. Secrets are masked."""

    id: str
    status: DeadLetterStatus
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


DeadLetterPage = page("DeadLetterPage", dead_letters=DeadLetterDetail)
PurgeResult = model("PurgeResult", purged=int)
KeySummary = schema_of(ApiKey, "KeySummary")
KeyList = listing("KeyList", keys=KeySummary)
CreatedKey = schema_of(ApiKey, "CreatedKey", key=str)


class CurrentPrincipal(BaseModel):
    tenant: str
    user: str | None
    agent: str | None
    roles: list[str]
    permissions: list[str]
    key: KeyKind
    source: str
    tools: list[str] | None
    ceiling: Level | None


class MemberSummary(BaseModel):
    id: str
    email: str
    name: str
    roles: list[str]
    disabled: bool


MemberList = listing("MemberList", members=MemberSummary)
RoleList = model("RoleList", roles=dict[str, list[str]])

_MEASURE_TYPES: dict[type, Any] = {int: int, float: float, dict: dict[str, int], NoneType: float | None}
UsageCounts = model(
    "UsageCounts",
    "Counts, by what was asked for.",
    by=dict[str, str],
    **{measure: _MEASURE_TYPES[type(value)] for measure, value in Counts().to_dict().items()},
)
"""Every measure, by the type that it has while nothing is counted."""
UsageList = listing("UsageList", usage=UsageCounts)

ToolSessionSummary = schema_of(ToolSession, "ToolSessionSummary", omit=("share_id",))
ToolSessionPage = page("ToolSessionPage", tool_sessions=ToolSessionSummary)
SharedToolSession = schema_of(
    ToolSession, "SharedToolSession", omit=("share_id",), share_token=str, share_url=str
)
SubmissionDetail = schema_of(ToolSessionSubmission, "SubmissionDetail")
SubmissionList = listing("SubmissionList", submissions=SubmissionDetail)
AggregateResult = model(
    "AggregateResult",
    "What the tool makes of all outputs: null while there are none, or where it makes nothing of them.",
    aggregate=Any,
    error=str | None,
    of=int,
)
ToolSessionExport = model(
    "ToolSessionExport", session=ToolSessionSummary, submissions=list_of(SubmissionDetail), aggregate=Any
)

EmbedSummary = schema_of(Embed, "EmbedSummary")
EmbedList = listing("EmbedList", embeds=EmbedSummary)
EmbedDetail = schema_of(Embed, "EmbedDetail", token=str, url=str, runs_today=int)


class PlannedCallSummary(BaseModel):
    """A call that plan mode holds back. Secrets are masked."""

    call_id: str
    tool: str
    arguments: dict[str, Any]
    reason: str
    session: str | None
    user: str | None
    agent: str | None
    source: str
    at: float


PlanPage = page("PlanPage", calls=PlannedCallSummary)
PlanOutcomes = listing("PlanOutcomes", outcomes=CallOutcome)
DiscardResult = model("DiscardResult", discarded=int)
