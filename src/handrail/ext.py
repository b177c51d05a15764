"""Documented names for authors of toolsets, doors and plugins; the rest is in `handrail` itself."""

from handrail.core.clock import Clock
from handrail.core.define.actions import action_error
from handrail.core.define.blocks import Block, tool_output_to_blocks
from handrail.core.define.bound import MODEL_LIMIT
from handrail.core.define.context import (
    active_tenant,
    current,
    get_tenant_id_for_tool,
    get_tool_context_tenant_id,
    tool_context,
    with_tool_context,
)
from handrail.core.define.decision import Step
from handrail.core.define.entity_options import Option, forget_options, register_options
from handrail.core.define.field_schema import (
    field_schema,
    fields_form,
    fields_of,
    fields_schema,
    fields_validator,
    storage_type,
)
from handrail.core.define.field_specs import forget_form_spec, register_form_spec
from handrail.core.define.fields import (
    NO_DEFAULT,
    STORAGE_TYPES,
    VARIANTS,
    FieldDefinition,
    FieldOption,
    StorageType,
)
from handrail.core.define.found import Described
from handrail.core.define.markdown import build_markdown_table
from handrail.core.define.names import humanize_field_name, slug_of, wire_name
from handrail.core.define.permission import LEVELS, Judged, Level
from handrail.core.define.registryevent import RegistryEvent
from handrail.core.define.result import Attachment, ToolResponse
from handrail.core.define.sections import FormGroup, FormSpec, OutputSection, ViewSpec
from handrail.core.define.signal import Aborted, Signal
from handrail.core.define.tool import CallSpec, InitContext, ToolMeta, to_tool_meta
from handrail.core.define.toolset import Attached, OnDemand
from handrail.core.define.view_specs import forget_view_spec, register_output_block, register_view_spec
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
from handrail.core.find.builtins import register_builtin_tools
from handrail.core.find.discover import discover
from handrail.core.find.meaning import Embedder
from handrail.core.find.pins import Definition, MemoryPins, Pin, Pins, Sighting, is_open, sight
from handrail.core.find.registry import default_registry, ensure_system_tools_registered, register_tool
from handrail.core.find.toolsets import (
    CombinedToolset,
    FilteredToolset,
    LazyToolset,
    PrefixedToolset,
    StaticToolset,
)
from handrail.core.find.visibility import DEFAULT_TENANT_ID
from handrail.core.guard.approval import (
    ApprovalRequest,
    Approver,
    Arguments,
    Reply,
    Vote,
    approve,
    reject,
    respond,
)
from handrail.core.guard.book import ApprovalBook, MemoryBook
from handrail.core.guard.claims import Claims, MemoryClaims
from handrail.core.guard.decide import SafetyCheck, decide
from handrail.core.guard.dedup import Dedup
from handrail.core.guard.footprint import extract_tool_file_path, folded, path_key
from handrail.core.guard.groups import tool_group
from handrail.core.guard.keys import Keys, MemoryKeys
from handrail.core.guard.plan import MemoryPlans, Planned, Plans
from handrail.core.guard.standing import MemoryStanding, Standing
from handrail.core.run.approvals import Conflict
from handrail.core.run.graph import GraphError, Task
from handrail.core.run.grouping import Group
from handrail.core.run.hooks import Equipped, Hook
from handrail.core.run.house import Secrets
from handrail.core.run.reading import read_result
from handrail.core.run.retrying import with_retry
from handrail.core.run.undo import Undoing
from handrail.core.run.worker import (
    WorkerState,
    is_tool_already_executed,
    mark_tool_executed,
    new_tool_calls,
    tool_signature,
)
from handrail.core.tell.analytics import tool_runs
from handrail.core.tell.counts import Counts
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
from handrail.core.tell.history import Used, record_tool_result, tool_history
from handrail.core.tell.letters import DeadLetter, DeadLetters, MemoryDeadLetters
from handrail.core.tell.log import EventLog, MemoryLog
from handrail.core.tell.project import ToolRun, to_legacy_tool_run, to_registry_event, to_ui_events
from handrail.core.tell.usage import MemoryTally, Tally, Usage
from handrail.documents import parse_json, parse_yaml_1_2, read_text

__all__ = [
    "DEFAULT_TENANT_ID",
    "LEVELS",
    "MODEL_LIMIT",
    "NO_DEFAULT",
    "STORAGE_TYPES",
    "VARIANTS",
    "Aborted",
    "ApprovalBook",
    "ApprovalRequest",
    "Approver",
    "Arguments",
    "Attached",
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
    "Described",
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
    "Group",
    "HandrailError",
    "Hook",
    "InitContext",
    "Judged",
    "Keys",
    "LazyToolset",
    "Level",
    "MemoryBook",
    "MemoryClaims",
    "MemoryDeadLetters",
    "MemoryKeys",
    "MemoryLog",
    "MemoryPins",
    "MemoryPlans",
    "MemoryStanding",
    "MemoryTally",
    "NeedsApproval",
    "NoTenant",
    "OnDemand",
    "Option",
    "OutputAppended",
    "OutputSection",
    "Pin",
    "Pins",
    "Planned",
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
    "Sighting",
    "Signal",
    "Standing",
    "StaticToolset",
    "Step",
    "Tally",
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
    "Undoing",
    "UnknownOutcome",
    "Usage",
    "UsageError",
    "Used",
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
    "is_open",
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
    "sight",
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
