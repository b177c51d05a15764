"""Decisions about calls: levels, safety checks, and the answers of approvers."""

from handrail.core.define.decision import Step as Step
from handrail.core.define.levels import LEVELS as LEVELS
from handrail.core.define.levels import Level as Level
from handrail.core.define.levels import RiskAssessment as RiskAssessment
from handrail.core.guard.approval_request import Approver as Approver
from handrail.core.guard.approval_request import Reply as Reply
from handrail.core.guard.approval_request import ShownArguments as ShownArguments
from handrail.core.guard.approval_request import Vote as Vote
from handrail.core.guard.approval_request import approve as approve
from handrail.core.guard.approval_request import reject as reject
from handrail.core.guard.approval_request import respond as respond
from handrail.core.guard.decide import SafetyCheck as SafetyCheck
from handrail.core.guard.decide import decide as decide
from handrail.core.guard.policy import tool_group as tool_group
from handrail.core.run.approvals.inbox import Conflict as Conflict
