"""A document, its import for a real service, and a call of it."""

from __future__ import annotations

from typing import Any

from handrail import Handrail, Outcome, Policy, Principal
from handrail.bridges.openapi import import_openapi
from tests.contract.bridges.http_service import Service

ANA = Principal("acme", "ana")
BOSS = Principal("acme", "boss", permissions={"*"})


def parameter(name: str, where: str = "query", kind: Any = "string", **more: Any) -> dict[str, Any]:
    return {"name": name, "in": where, "schema": {"type": kind}, "required": where == "path", **more}


def document(paths: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": paths, **more}


PETS = document(
    {
        "/pets": {
            "get": {"operationId": "listPets", "parameters": [parameter("limit", kind="integer")]},
            "post": {
                "operationId": "addPet",
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
                                "required": ["name"],
                            }
                        }
                    },
                },
            },
        },
        "/pets/{id}": {
            "parameters": [parameter("id", "path")],
            "get": {"operationId": "getPet"},
            "delete": {"operationId": "dropPet"},
            "head": {"operationId": "hasPet"},
        },
    }
)


def handrail(service: Service, given: Any = PETS, **more: Any) -> Handrail:
    secrets = more.pop("secrets", None)
    imported = import_openapi(given, "shop", base_url=f"{service.url}/v1/", **more)
    return Handrail(imported.tools, policy=Policy(capabilities=["read", "write", "network"]), secrets=secrets)


async def called(
    hr: Handrail, tool: str, args: dict[str, Any] | None = None, who: Principal = ANA
) -> Outcome:
    """A call by a person who confirms their own."""
    outcome = await hr.call(f"shop.{tool}", args or {}, principal=who)
    if outcome.status == "pending":
        await hr.approvals.approve(str(outcome.approval_id), by=BOSS)
        outcome = await hr.wait(outcome.call_id, 20)
    return outcome
