"""What the bodies of tools, and code that calls tools, make use of."""

from handrail.core.define.context import active_tenant as active_tenant
from handrail.core.define.context import current as current
from handrail.core.define.lookup import ToolDetails as ToolDetails
from handrail.core.define.names import slug_of as slug_of
from handrail.core.define.names import wire_name as wire_name
from handrail.core.define.result import MODEL_LIMIT as MODEL_LIMIT
from handrail.core.define.signal import Signal as Signal
from handrail.core.define.validation import action_error as action_error
from handrail.core.guard.dedup import Dedup as Dedup
from handrail.core.guard.footprint import folded as folded
from handrail.core.guard.footprint import path_key as path_key
from handrail.core.run.call_many import CallGroup as CallGroup
from handrail.core.run.jobs.graph import Task as Task
from handrail.core.run.results import read_result as read_result
from handrail.core.run.retries import with_retry as with_retry
from handrail.core.run.undo import Undo as Undo
