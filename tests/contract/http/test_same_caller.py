"""Two service keys without a user or an agent are two callers, also where they hold the same rights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest

from handrail import Policy, tool
from handrail.doors.web.app import build_web
from handrail.platform.middleware import RequestLimits, SecurityMiddleware
from tests.contract.http.two_tenants import TwoTenantApi, two_tenant_api

pytestmark = pytest.mark.req("RA-12", "BY-12")
FREE = Policy(approval_mode="danger")
HELD = ("runs.read", "notes.write")
"""What both keys hold: it does not let them read what others were answered."""


@tool(
    "note.write", level="write", danger="safe", undo=lambda args, data: ("note.remove", {"text": args.text})
)
async def write(text: str) -> str:
    """Write a note."""
    return f"secret of {text}"


@tool("note.remove", level="write", danger="safe")
async def remove(text: str) -> str:
    """Remove a note."""
    return "gone"


@tool("note.burn", level="destructive")
async def burn(text: str) -> str:
    """Burn all notes."""
    return "burnt"


async def service_key(rest_api: TwoTenantApi, name: str) -> dict[str, str]:
    by = await rest_api.principal("owner")
    text, _ = await rest_api.services.keys.make(by, name, "service", permissions=HELD)
    return {"authorization": f"Bearer {text.reveal()}"}


async def call(rest_api: TwoTenantApi, name: str, headers: dict[str, str], **arguments: Any) -> Any:
    answer = await rest_api.ask("POST", f"/api/tools/{name}/call", headers, json={"arguments": arguments})
    return answer.json()


async def test_one_nameless_key_neither_reads_nor_undoes_nor_cancels_the_call_of_another(
    sqlite_url: str,
) -> None:
    async with two_tenant_api(sqlite_url, write, remove, policy=FREE) as rest_api:
        first, second = await service_key(rest_api, "first"), await service_key(rest_api, "second")
        told = await call(rest_api, "note.write", first, text="a")
        url = f"/api/calls/{told['call_id']}"
        for method, path in (("GET", url), ("POST", f"{url}/undo"), ("POST", f"{url}/cancel")):
            answer = await rest_api.ask(method, path, second)
            assert (answer.status_code, "secret of" in answer.text) == (404, False), path
        runs = [
            (await rest_api.ask("GET", f"/api/runs/{told['run_id']}", who)).json() for who in (first, second)
        ]
        assert [run["input"] for run in runs] == [{"text": "a"}, None]
        assert runs[1]["result"] is None
        assert "secret of a" in (await rest_api.ask("GET", url, first)).text
        undone = await rest_api.ask("POST", f"{url}/undo", first)
        assert (undone.status_code, undone.json()["outcome"]["success"]) == (200, True)


async def test_one_nameless_key_sees_no_approval_of_another(sqlite_url: str) -> None:
    async with two_tenant_api(sqlite_url, burn) as rest_api:
        first, second = await service_key(rest_api, "first"), await service_key(rest_api, "second")
        told = await call(rest_api, "note.burn", first, text="a")
        url = f"/api/approvals/{told['approval']['id']}"
        assert [(await rest_api.ask("GET", url, who)).status_code for who in (first, second)] == [200, 404]
        open_to = [(await rest_api.ask("GET", "/api/approvals", who)).json() for who in (first, second)]
    assert [len(page["approvals"]) for page in open_to] == [1, 0]


async def test_a_page_shows_one_nameless_key_nothing_that_another_was_answered(sqlite_url: str) -> None:
    async with two_tenant_api(sqlite_url, write, remove, policy=FREE) as rest_api:
        first, second = await service_key(rest_api, "first"), await service_key(rest_api, "second")
        told = await call(rest_api, "note.write", first, text="a")
        app = SecurityMiddleware(build_web(rest_api.platform), rest_api.platform, RequestLimits(rate=None))
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
            pages = [await http.get(f"/runs/{told['call_id']}", headers=who) for who in (first, second)]
    assert [page.status_code for page in pages] == [200, 200], "both hold runs.read"
    assert ["secret of a" in page.text for page in pages] == [True, False]


async def test_the_same_key_stays_the_same_caller_when_it_holds_less(sqlite_url: str) -> None:
    async with two_tenant_api(sqlite_url, write, remove, policy=FREE) as rest_api:
        first = await service_key(rest_api, "first")
        key = first["authorization"].partition(" ")[2]
        now = await rest_api.platform.auth.principal_of(key, "api")
        assert now.user is now.agent is None and now.key_id is not None
        assert now.is_same_caller(replace(now, permissions=frozenset()))
