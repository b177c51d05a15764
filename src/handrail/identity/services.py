"""Services: who may sign in, and the administration of members, keys and tools, of one open database."""

from __future__ import annotations

from handrail.core.find.registry import Registry
from handrail.identity.api_keys import KeyAdmin
from handrail.identity.authenticator import Authenticator
from handrail.identity.embeds import Embeds
from handrail.identity.members import MemberAdmin
from handrail.identity.passwords import PasswordAdmin
from handrail.identity.preferences import Preferences
from handrail.identity.session_aggregates import Aggregator
from handrail.identity.tenant_tools import TenantTools
from handrail.identity.tool_admin import ToolAdmin
from handrail.identity.tool_sessions import ToolSessions
from handrail.store.database import Database
from handrail.store.encryption import Seal


class Services:
    """Everything about identity that a database offers, over one connection pool and one writer."""

    tools: TenantTools
    tool_admin: ToolAdmin

    def __init__(self, db: Database, seal: Seal) -> None:
        self.db = db
        self.seal = seal
        self.authenticator = Authenticator(db, seal.derived("sessions"))
        self.people = MemberAdmin(db, self.authenticator.forget)
        self.keys = KeyAdmin(db, self.authenticator.forget)
        self.passwords = PasswordAdmin(db, self.authenticator)
        self.preferences = Preferences(db, seal)
        self.tool_sessions = ToolSessions(db, seal)
        self.aggregates = Aggregator()
        self.embeds = Embeds(db, seal)

    def bind_registry(self, registry: Registry) -> TenantTools:
        """Each tenant's tools, over those of this process."""
        self.tools = TenantTools(self.db, registry)
        self.tool_admin = ToolAdmin(self.tools)
        return self.tools
