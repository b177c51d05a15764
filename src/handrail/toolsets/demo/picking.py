"""Records to pick from in forms, as the tenant of whoever picks has them."""

from __future__ import annotations

from handrail import Principal
from handrail.ext import FormSpec, Option, register_options
from handrail.toolsets.demo.store import STORE

ONE = FormSpec({"id": {"entity": "record"}})
SEVERAL = FormSpec({"ids": {"entity": "record", "multiple": True}})
"""Forms that ask for records by their name."""


async def find_records(who: Principal, text: str, limit: int) -> list[Option]:
    """Records whose id or name has what was typed."""
    words = text.casefold()
    fits = (one for one in STORE.of(who.tenant).values() if words in f"{one.id} {one.name}".casefold())
    return [Option(one.id, one.name) for one in fits][:limit]


register_options("record", find_records)
