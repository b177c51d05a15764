"""Exactly what a provider, a protocol and a prompt are shown of tools."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
from typing import Annotated

import pytest
from inline_snapshot import snapshot
from pydantic import BaseModel, Field

from handrail import Handrail, tool


class Address(BaseModel):
    """Where somebody lives."""

    street: str
    town: str = "Bonn"


class Found(BaseModel):
    count: int
    rows: list[Address]
    sum: Decimal
    when: dt.datetime


@tool("data.searchRecords", level="read")
def search_records(region: str | None = None, limit: Annotated[int, Field(ge=1, le=1000)] = 100) -> Found:
    """Search and filter records by criteria.

    Use it before you answer a question about sales. Not for single records.

    Args:
        region: Where to look; all regions without it.
        limit: How many records at most.
    """
    raise NotImplementedError


@tool("data.deleteRecord", level="destructive", capabilities=["write", "network"], idempotent=True)
def delete_record(id: uuid.UUID) -> None:
    """Delete one record for good."""


@tool("ping", level="read")
def ping() -> str:
    """Say whether it is alive."""
    return "yes"


@pytest.mark.req("SC-01", "SC-03", "NM-06", "TD-06")
async def test_openai_sees() -> None:
    async with Handrail([search_records, delete_record, ping]) as hr:
        assert await hr.export("openai") == snapshot(
            [
                {
                    "type": "function",
                    "function": {
                        "name": "data__deleteRecord",
                        "description": "Delete one record for good.",
                        "parameters": {
                            "type": "object",
                            "properties": {"id": {"format": "uuid", "type": "string"}},
                            "additionalProperties": False,
                            "required": ["id"],
                        },
                    },
                },
                {
                    "type": "function",
                    "function": {
                        "name": "data__searchRecords",
                        "description": """\
Search and filter records by criteria.

Use it before you answer a question about sales. Not for single records.\
""",
                        "parameters": {
                            "type": "object",
                            "properties": {
                                "region": {
                                    "anyOf": [{"type": "string"}, {"type": "null"}],
                                    "default": None,
                                    "description": "Where to look; all regions without it.",
                                },
                                "limit": {
                                    "default": 100,
                                    "description": "How many records at most.",
                                    "maximum": 1000,
                                    "minimum": 1,
                                    "type": "integer",
                                },
                            },
                            "additionalProperties": False,
                        },
                    },
                },
                {
                    "type": "function",
                    "function": {
                        "name": "ping",
                        "description": "Say whether it is alive.",
                        "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
                    },
                },
            ]
        )


@pytest.mark.req("SC-01", "NM-06")
async def test_anthropic_sees() -> None:
    async with Handrail([search_records, ping]) as hr:
        assert await hr.export("anthropic") == snapshot(
            [
                {
                    "name": "data__searchRecords",
                    "description": """\
Search and filter records by criteria.

Use it before you answer a question about sales. Not for single records.\
""",
                    "input_schema": {
                        "type": "object",
                        "properties": {
                            "region": {
                                "anyOf": [{"type": "string"}, {"type": "null"}],
                                "default": None,
                                "description": "Where to look; all regions without it.",
                            },
                            "limit": {
                                "default": 100,
                                "description": "How many records at most.",
                                "maximum": 1000,
                                "minimum": 1,
                                "type": "integer",
                            },
                        },
                        "additionalProperties": False,
                    },
                },
                {
                    "name": "ping",
                    "description": "Say whether it is alive.",
                    "input_schema": {"type": "object", "properties": {}, "additionalProperties": False},
                },
            ]
        )


@pytest.mark.req("SC-01", "SC-05", "TD-08")
async def test_an_mcp_client_sees() -> None:
    async with Handrail([search_records, delete_record]) as hr:
        assert await hr.export("mcp") == snapshot(
            [
                {
                    "name": "data__deleteRecord",
                    "title": "Delete Record",
                    "description": "Delete one record for good.",
                    "inputSchema": {
                        "additionalProperties": False,
                        "properties": {"id": {"format": "uuid", "type": "string"}},
                        "required": ["id"],
                        "type": "object",
                    },
                    "annotations": {
                        "title": "Delete Record",
                        "readOnlyHint": False,
                        "destructiveHint": True,
                        "idempotentHint": True,
                        "openWorldHint": True,
                    },
                },
                {
                    "name": "data__searchRecords",
                    "title": "Search Records",
                    "description": """\
Search and filter records by criteria.

Use it before you answer a question about sales. Not for single records.\
""",
                    "inputSchema": {
                        "additionalProperties": False,
                        "properties": {
                            "region": {
                                "anyOf": [{"type": "string"}, {"type": "null"}],
                                "default": None,
                                "description": "Where to look; all regions without it.",
                            },
                            "limit": {
                                "default": 100,
                                "description": "How many records at most.",
                                "maximum": 1000,
                                "minimum": 1,
                                "type": "integer",
                            },
                        },
                        "type": "object",
                    },
                    "annotations": {
                        "title": "Search Records",
                        "readOnlyHint": True,
                        "destructiveHint": False,
                        "idempotentHint": True,
                        "openWorldHint": False,
                    },
                    "outputSchema": {
                        "$defs": {
                            "Address": {
                                "description": "Where somebody lives.",
                                "properties": {
                                    "street": {"type": "string"},
                                    "town": {"default": "Bonn", "type": "string"},
                                },
                                "required": ["street"],
                                "type": "object",
                            }
                        },
                        "properties": {
                            "count": {"type": "integer"},
                            "rows": {"items": {"$ref": "#/$defs/Address"}, "type": "array"},
                            "sum": {"pattern": "^-?\\d+(\\.\\d+)?(E[+-]?\\d+)?$", "type": "string"},
                            "when": {"format": "date-time", "type": "string"},
                        },
                        "required": ["count", "rows", "sum", "when"],
                        "type": "object",
                    },
                },
            ]
        )


@pytest.mark.req("NM-04", "NM-01")
async def test_a_prompt_shows_the_menu_by_category() -> None:
    async with Handrail([search_records, delete_record, ping]) as hr:
        assert await hr.export("prompt_menu") == snapshot("""\
## data
- data.deleteRecord: Delete one record for good.
- data.searchRecords: Search and filter records by criteria.

## general
- ping: Say whether it is alive.\
""")
