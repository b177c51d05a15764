"""Documented names for authors of toolsets, doors and plugins; the rest is in `handrail` itself."""

from handrail.core.clock import Clock
from handrail.core.define.context import (
    active_tenant,
    current,
    get_tenant_id_for_tool,
    get_tool_context_tenant_id,
    tool_context,
    with_tool_context,
)
from handrail.core.define.decision import Step
from handrail.core.define.levels import LEVELS, Level, RiskAssessment
from handrail.core.define.lookup import ToolDetails
from handrail.core.define.names import humanize_field_name, slug_of, wire_name
from handrail.core.define.result import MODEL_LIMIT, Attachment, ToolResponse
from handrail.core.define.signal import Aborted, Signal
from handrail.core.define.tool import CallSpec, InitContext, RegistryEvent, ToolMeta, to_tool_meta
from handrail.core.define.ui_specs import FormGroup, FormSpec, OutputSection, ViewSpec
from handrail.core.define.validation import action_error
from handrail.core.errors import (
    DefinitionError,
    DuplicateName,
    HandrailError,
    NoTenant,
    PolicyError,
    StorageError,
    ToolError,
    UnknownOutcome,
    UsageError,
)
from handrail.core.find.embeddings import Embedder
from handrail.core.find.pins import Definition, MemoryPins, Pin, PinChanges, Pins, compare_pins, is_accepted
from handrail.core.find.registry import (
    default_registry,
    discover,
    ensure_system_tools_registered,
    register_builtin_tools,
    register_tool,
)
from handrail.core.find.toolsets import (
    AttachableToolset,
    CombinedToolset,
    FilteredToolset,
    LazyToolset,
    OnDemandToolset,
    PrefixedToolset,
    StaticToolset,
)
from handrail.core.find.visibility import DEFAULT_TENANT_ID
from handrail.core.guard.approval_request import (
    ApprovalRequest,
    Approver,
    Reply,
    ShownArguments,
    Vote,
    approve,
    reject,
    respond,
)
from handrail.core.guard.approval_store import (
    ApprovalStore,
    MemoryApprovals,
    MemoryStandingApprovals,
    StandingApprovals,
)
from handrail.core.guard.claims import Claims, MemoryClaims
from handrail.core.guard.decide import SafetyCheck, decide
from handrail.core.guard.dedup import (
    Dedup,
    WorkerState,
    is_tool_already_executed,
    mark_tool_executed,
    new_tool_calls,
    tool_signature,
)
from handrail.core.guard.footprint import extract_tool_file_path, folded, path_key
from handrail.core.guard.idempotency import IdempotencyKeys, MemoryIdempotencyKeys
from handrail.core.guard.plans import MemoryPlans, PlannedCall, Plans
from handrail.core.guard.policy import tool_group
from handrail.core.present.blocks import (
    Block,
    forget_view_spec,
    register_output_block,
    register_view_spec,
    tool_output_to_blocks,
)
from handrail.core.present.fields import (
    NO_DEFAULT,
    STORAGE_TYPES,
    VARIANTS,
    FieldDefinition,
    FieldOption,
    StorageType,
    field_schema,
    fields_form,
    fields_of,
    fields_schema,
    fields_validator,
    storage_type,
)
from handrail.core.present.forms import (
    Option,
    forget_form_spec,
    forget_options,
    register_form_spec,
    register_options,
)
from handrail.core.present.markdown import build_markdown_table
from handrail.core.run.approvals.inbox import Conflict
from handrail.core.run.call_many import CallGroup
from handrail.core.run.hooks import Equipped, Hook
from handrail.core.run.jobs.graph import GraphError, Task
from handrail.core.run.results import read_result
from handrail.core.run.retries import with_retry
from handrail.core.run.runtime import Secrets
from handrail.core.run.undo import Undo
from handrail.core.tell.counts import Counts
from handrail.core.tell.dead_letters import DeadLetter, DeadLetters, MemoryDeadLetters
from handrail.core.tell.events import (
    Event,
    NeedsApproval,
    OutputAppended,
    Progress,
    Retrying,
    Settled,
    ToolApproved,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolStarted,
)
from handrail.core.tell.log import EventLog, MemoryLog
from handrail.core.tell.projections import (
    ToolRun,
    ToolUse,
    record_tool_result,
    to_legacy_tool_run,
    to_registry_event,
    to_ui_events,
    tool_history,
)
from handrail.core.tell.usage import MemoryUsageMeter, Usage, UsageMeter, tool_runs
from handrail.data_files import parse_json, parse_yaml_1_2, read_text

__all__ = [
    "DEFAULT_TENANT_ID",
    "LEVELS",
    "MODEL_LIMIT",
    "NO_DEFAULT",
    "STORAGE_TYPES",
    "VARIANTS",
    "Aborted",
    "ApprovalStore",
    "ApprovalRequest",
    "Approver",
    "ShownArguments",
    "AttachableToolset",
    "Attachment",
    "Block",
    "CallSpec",
    "Claims",
    "Clock",
    "CombinedToolset",
    "Conflict",
    "Counts",
    "DeadLetter",
    "DeadLetters",
    "Dedup",
    "Definition",
    "DefinitionError",
    "ToolDetails",
    "DuplicateName",
    "Embedder",
    "Equipped",
    "Event",
    "EventLog",
    "FieldDefinition",
    "FieldOption",
    "FilteredToolset",
    "FormGroup",
    "FormSpec",
    "GraphError",
    "CallGroup",
    "HandrailError",
    "Hook",
    "InitContext",
    "RiskAssessment",
    "IdempotencyKeys",
    "LazyToolset",
    "Level",
    "MemoryApprovals",
    "MemoryClaims",
    "MemoryDeadLetters",
    "MemoryIdempotencyKeys",
    "MemoryLog",
    "MemoryPins",
    "MemoryPlans",
    "MemoryStandingApprovals",
    "MemoryUsageMeter",
    "NeedsApproval",
    "NoTenant",
    "OnDemandToolset",
    "Option",
    "OutputAppended",
    "OutputSection",
    "Pin",
    "Pins",
    "PlannedCall",
    "Plans",
    "PolicyError",
    "StorageError",
    "StorageType",
    "PrefixedToolset",
    "Progress",
    "RegistryEvent",
    "Reply",
    "Retrying",
    "SafetyCheck",
    "Secrets",
    "Settled",
    "PinChanges",
    "Signal",
    "StandingApprovals",
    "StaticToolset",
    "Step",
    "UsageMeter",
    "Task",
    "ToolApproved",
    "ToolCancelled",
    "ToolCompleted",
    "ToolError",
    "ToolFailed",
    "ToolMeta",
    "ToolResponse",
    "ToolRun",
    "ToolStarted",
    "Undo",
    "UnknownOutcome",
    "Usage",
    "UsageError",
    "ToolUse",
    "ViewSpec",
    "Vote",
    "WorkerState",
    "action_error",
    "active_tenant",
    "approve",
    "build_markdown_table",
    "current",
    "decide",
    "default_registry",
    "discover",
    "ensure_system_tools_registered",
    "extract_tool_file_path",
    "field_schema",
    "fields_form",
    "fields_of",
    "fields_schema",
    "fields_validator",
    "folded",
    "forget_form_spec",
    "forget_options",
    "forget_view_spec",
    "get_tenant_id_for_tool",
    "get_tool_context_tenant_id",
    "humanize_field_name",
    "is_accepted",
    "is_tool_already_executed",
    "mark_tool_executed",
    "new_tool_calls",
    "parse_json",
    "parse_yaml_1_2",
    "path_key",
    "read_result",
    "read_text",
    "record_tool_result",
    "register_builtin_tools",
    "register_form_spec",
    "register_options",
    "register_output_block",
    "register_tool",
    "register_view_spec",
    "reject",
    "respond",
    "compare_pins",
    "slug_of",
    "storage_type",
    "to_legacy_tool_run",
    "to_registry_event",
    "to_tool_meta",
    "to_ui_events",
    "tool_context",
    "tool_group",
    "tool_history",
    "tool_output_to_blocks",
    "tool_runs",
    "tool_signature",
    "wire_name",
    "with_retry",
    "with_tool_context",
]
