"""What `Handrail` can be given in place of its parts in memory, and those parts."""

from handrail.core.clock import Clock as Clock
from handrail.core.find.embeddings import Embedder as Embedder
from handrail.core.find.pins import MemoryPins as MemoryPins
from handrail.core.find.pins import Pins as Pins
from handrail.core.guard.approval_store import ApprovalStore as ApprovalStore
from handrail.core.guard.approval_store import MemoryApprovals as MemoryApprovals
from handrail.core.guard.approval_store import MemoryStandingApprovals as MemoryStandingApprovals
from handrail.core.guard.approval_store import StandingApprovals as StandingApprovals
from handrail.core.guard.claims import Claims as Claims
from handrail.core.guard.claims import MemoryClaims as MemoryClaims
from handrail.core.guard.idempotency import IdempotencyKeys as IdempotencyKeys
from handrail.core.guard.idempotency import MemoryIdempotencyKeys as MemoryIdempotencyKeys
from handrail.core.guard.plans import MemoryPlans as MemoryPlans
from handrail.core.guard.plans import PlannedCall as PlannedCall
from handrail.core.guard.plans import Plans as Plans
from handrail.core.run.hooks import Hook as Hook
from handrail.core.run.runtime import Secrets as Secrets
from handrail.core.tell.dead_letters import DeadLetter as DeadLetter
from handrail.core.tell.dead_letters import DeadLetters as DeadLetters
from handrail.core.tell.dead_letters import MemoryDeadLetters as MemoryDeadLetters
from handrail.core.tell.log import EventLog as EventLog
from handrail.core.tell.log import MemoryLog as MemoryLog
from handrail.core.tell.usage import MemoryUsageMeter as MemoryUsageMeter
from handrail.core.tell.usage import UsageMeter as UsageMeter
