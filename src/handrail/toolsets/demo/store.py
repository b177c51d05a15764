"""Records in memory, by tenant."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from handrail.ext import ToolError

Status = Literal["active", "inactive", "pending"]


class Record(BaseModel):
    """A customer."""

    id: str
    name: str
    status: Status
    region: str
    category: str
    score: int | None = None


class Store:
    """What each tenant has. A tool asks for the records of the tenant it runs for, and never sees others."""

    def __init__(self) -> None:
        self._tenants: dict[str, dict[str, Record]] = {}
        self.fill()

    def fill(self, tenant: str = "acme") -> None:
        """Begin again with what a demo needs; other tenants have nothing."""
        sample = (
            Record(id="rec-001", name="Alder Works", status="active", region="north", category="enterprise"),
            Record(id="rec-002", name="Birch & Co", status="active", region="north", category="small"),
            Record(id="rec-003", name="Cedar Labs", status="pending", region="south", category="enterprise"),
            Record(id="rec-004", name="Dogwood", status="inactive", region="north", category="small"),
        )
        self._tenants = {tenant: {record.id: record for record in sample}}

    def of(self, tenant: str) -> dict[str, Record]:
        """The tenant's records by id, to read and to change."""
        return self._tenants.setdefault(tenant, {})

    def get(self, tenant: str, record_id: str) -> Record:
        """One record of the tenant; a failure that tells what to do when there is none."""
        record = self.of(tenant).get(record_id)
        if record is None:
            raise ToolError(
                f"There is no record {record_id}. Search for it with data.searchRecords.",
                code="RECORD_NOT_FOUND",
            )
        return record


STORE = Store()
