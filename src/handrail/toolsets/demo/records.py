"""Customer records in memory, by tenant, and how forms pick them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from handrail import Principal, ToolError
from handrail.ext.forms import FormSpec, Option, register_options

RecordStatus = Literal["active", "inactive", "pending"]


class CustomerRecord(BaseModel):
    """A customer."""

    id: str
    name: str
    status: RecordStatus
    region: str
    category: str
    score: int | None = None


class RecordStore:
    """What each tenant has. A tool asks for the records of the tenant it runs for, and never sees others."""

    def __init__(self) -> None:
        self._tenants: dict[str, dict[str, CustomerRecord]] = {}
        self.fill()

    def fill(self, tenant: str = "acme") -> None:
        """Begin again with what a demo needs; other tenants have nothing."""
        sample = (
            CustomerRecord(
                id="rec-001", name="Alder Works", status="active", region="north", category="enterprise"
            ),
            CustomerRecord(
                id="rec-002", name="Birch & Co", status="active", region="north", category="small"
            ),
            CustomerRecord(
                id="rec-003", name="Cedar Labs", status="pending", region="south", category="enterprise"
            ),
            CustomerRecord(id="rec-004", name="Dogwood", status="inactive", region="north", category="small"),
        )
        self._tenants = {tenant: {record.id: record for record in sample}}

    def of(self, tenant: str) -> dict[str, CustomerRecord]:
        """The tenant's records by id, to read and to change."""
        return self._tenants.setdefault(tenant, {})

    def get(self, tenant: str, record_id: str) -> CustomerRecord:
        """One record of the tenant; a failure that tells what to do when there is none."""
        record = self.of(tenant).get(record_id)
        if record is None:
            raise ToolError(
                f"There is no record {record_id}. Search for it with data.searchRecords.",
                code="RECORD_NOT_FOUND",
            )
        return record


STORE = RecordStore()


ONE_RECORD = FormSpec({"id": {"entity": "record"}})

SEVERAL_RECORDS = FormSpec({"ids": {"entity": "record", "multiple": True}})
"""Forms that ask for records by their name."""


async def find_records(who: Principal, text: str, limit: int) -> list[Option]:
    """Records whose id or name has what was typed."""
    words = text.casefold()
    fits = (
        record for record in STORE.of(who.tenant).values() if words in f"{record.id} {record.name}".casefold()
    )
    return [Option(record.id, record.name) for record in fits][:limit]


register_options("record", find_records)
