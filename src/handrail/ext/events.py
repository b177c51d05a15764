"""What a call tells: events, and what can be read from them afterwards."""

from handrail.core.tell.counts import Counts as Counts
from handrail.core.tell.events import Event as Event
from handrail.core.tell.events import NeedsApproval as NeedsApproval
from handrail.core.tell.events import OutputAppended as OutputAppended
from handrail.core.tell.events import Progress as Progress
from handrail.core.tell.events import Retrying as Retrying
from handrail.core.tell.events import Settled as Settled
from handrail.core.tell.events import ToolApproved as ToolApproved
from handrail.core.tell.events import ToolCancelled as ToolCancelled
from handrail.core.tell.events import ToolCompleted as ToolCompleted
from handrail.core.tell.events import ToolFailed as ToolFailed
from handrail.core.tell.events import ToolStarted as ToolStarted
from handrail.core.tell.projections import ToolUse as ToolUse
from handrail.core.tell.projections import record_tool_result as record_tool_result
from handrail.core.tell.projections import tool_history as tool_history
from handrail.core.tell.usage import Usage as Usage
from handrail.core.tell.usage import tool_runs as tool_runs
