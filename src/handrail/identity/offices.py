"""Offices: who may come in, and who looks after people, keys and tools of one open database."""

from __future__ import annotations

from handrail.core.find.registry import Registry
from handrail.identity.aggregating import Aggregates
from handrail.identity.doorkeeper import Doorkeeper
from handrail.identity.embeds import Embeds
from handrail.identity.keepsakes import Keepsakes
from handrail.identity.key_office import KeyOffice
from handrail.identity.password_office import PasswordOffice
from handrail.identity.people import People
from handrail.identity.tenant_tools import TenantTools
from handrail.identity.tool_editing import ToolEditing
from handrail.identity.tool_sessions import ToolSessions
from handrail.store.database import Database
from handrail.store.sealing import Seal


class Offices:
    """Everything about identity that is to be had of a database, over one connection pool and one writer."""

    tools: TenantTools
    editing: ToolEditing

    def __init__(self, db: Database, seal: Seal) -> None:
        self.db = db
        self.seal = seal
        self.doorkeeper = Doorkeeper(db, seal.derived("sessions"))
        self.people = People(db, self.doorkeeper.forget)
        self.keys = KeyOffice(db, self.doorkeeper.forget)
        self.passwords = PasswordOffice(db, self.doorkeeper)
        self.keepsakes = Keepsakes(db, seal)
        self.tool_sessions = ToolSessions(db, seal)
        self.aggregates = Aggregates()
        self.embeds = Embeds(db, seal)
        self.tool_sessions = ToolSessions(db, seal)
        self.aggregates = Aggregates()
        self.embeds = Embeds(db, seal)
        self.passwords = PasswordOffice(db, self.doorkeeper)
        self.keepsakes = Keepsakes(db, seal)

    def attend(self, registry: Registry) -> TenantTools:
        """Each tenant's tools, over those of this process."""
        self.tools = TenantTools(self.db, registry)
        self.editing = ToolEditing(self.tools)
        return self.tools
