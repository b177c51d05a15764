"""Names that the tools, workers and interfaces that Handrail replaces already call."""

from handrail.core.define.context import get_tenant_id_for_tool as get_tenant_id_for_tool
from handrail.core.define.context import get_tool_context_tenant_id as get_tool_context_tenant_id
from handrail.core.define.context import tool_context as tool_context
from handrail.core.define.context import with_tool_context as with_tool_context
from handrail.core.define.result import ToolResponse as ToolResponse
from handrail.core.define.tool import CallSpec as CallSpec
from handrail.core.define.tool import InitContext as InitContext
from handrail.core.define.tool import RegistryEvent as RegistryEvent
from handrail.core.define.tool import ToolMeta as ToolMeta
from handrail.core.define.tool import to_tool_meta as to_tool_meta
from handrail.core.find.registry import default_registry as default_registry
from handrail.core.find.registry import ensure_system_tools_registered as ensure_system_tools_registered
from handrail.core.find.registry import register_builtin_tools as register_builtin_tools
from handrail.core.find.registry import register_tool as register_tool
from handrail.core.find.visibility import DEFAULT_TENANT_ID as DEFAULT_TENANT_ID
from handrail.core.guard.dedup import WorkerState as WorkerState
from handrail.core.guard.dedup import is_tool_already_executed as is_tool_already_executed
from handrail.core.guard.dedup import mark_tool_executed as mark_tool_executed
from handrail.core.guard.dedup import new_tool_calls as new_tool_calls
from handrail.core.guard.dedup import tool_signature as tool_signature
from handrail.core.guard.footprint import extract_tool_file_path as extract_tool_file_path
from handrail.core.tell.projections import ToolRun as ToolRun
from handrail.core.tell.projections import to_legacy_tool_run as to_legacy_tool_run
from handrail.core.tell.projections import to_registry_event as to_registry_event
from handrail.core.tell.projections import to_ui_events as to_ui_events
