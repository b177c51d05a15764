"""Errors beside `HandrailError` and `ToolError`, which are in `handrail` itself."""

from handrail.core.define.signal import Aborted as Aborted
from handrail.core.errors import DefinitionError as DefinitionError
from handrail.core.errors import DuplicateName as DuplicateName
from handrail.core.errors import NoTenant as NoTenant
from handrail.core.errors import PolicyError as PolicyError
from handrail.core.errors import StorageError as StorageError
from handrail.core.errors import UnknownOutcome as UnknownOutcome
from handrail.core.errors import UsageError as UsageError
from handrail.core.run.jobs.graph import GraphError as GraphError
