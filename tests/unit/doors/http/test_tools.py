"""GET /api/tools: what each may see, page by page."""

from __future__ import annotations

from typing import Any

import pytest

from handrail import define
from tests.unit.doors.http.rest_app import ApiClient, add, door, key, send


async def ids(http: ApiClient, who: str = "ana", **query: Any) -> list[str]:
    """All pages of a list."""
    found: list[str] = []
    after: str | None = None
    while True:
        params = {**query, **({} if after is None else {"after": after})}
        page = (await http.get("/api/tools", params=params, headers=key(who))).json()
        found += [one["id"] for one in page["tools"]]
        after = page["next"]
        if after is None:
            return found


@pytest.mark.req("RA-11", "RA-06")
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 200])
async def test_tools_are_listed_by_id_page_by_page(limit: int) -> None:
    async with door() as http:
        found = await ids(http, limit=limit)
        known = sorted(tool.id for tool in http.platform.hr.registry.list())
    assert found == known


@pytest.mark.req("RA-06", "RA-12")
async def test_what_somebody_may_not_see_is_neither_listed_nor_found_nor_read() -> None:
    async with door() as http:
        assert "acme.only" in await ids(http) and "acme.only" not in await ids(http, "eve")
        assert "vault.open" not in await ids(http, "bea")
        search = await http.get("/api/tools/search", params={"q": "acme only"}, headers=key("eve"))
        assert "acme.only" not in [one["id"] for one in search.json()["tools"]]
        hidden = await http.get("/api/tools/acme-only", headers=key("eve"))
        unknown = await http.get("/api/tools/no-such", headers=key("eve"))
    assert hidden.status_code == unknown.status_code == 404
    assert hidden.content == unknown.content


@pytest.mark.req("RA-11")
async def test_a_list_can_be_narrowed() -> None:
    stored = define(
        "own.tool", {"description": "It does.", "execute": dict, "origin": "bundle"}, level="draft"
    )
    async with door(stored) as http:
        assert await ids(http, origin="bundle", limit=1) == ["own.tool"]
        assert await ids(http, category="sums") == ["sum.add"]
        assert await ids(http, level="write") == ["mail.send"]
        assert await ids(http, kind="tenant_custom") == []
        assert len(await ids(http, kind="code", limit=2)) == 8


@pytest.mark.req("RA-06")
@pytest.mark.parametrize("name", ["mail-send", "mail.send", "mail__send"])
async def test_a_tool_is_read_with_all_that_a_caller_needs(name: str) -> None:
    async with door() as http:
        told = (await http.get(f"/api/tools/{name}", headers=key("bot"))).json()
    assert (told["id"], told["slug"], told["digest"], told["visible"]) == (
        "mail.send",
        "mail-send",
        send.digest,
        True,
    )
    assert told["input_schema"]["required"] == ["to"] and told["output_schema"] == {"type": "string"}
    assert (told["level"], told["level_varies"], told["verdict"]) == ("write", False, "ask")
    assert told["annotations"] == {"read_only": False, "destructive": False, "idempotent": False}
    assert told["form"] is None and told["sections"] == []


async def test_the_best_fit_is_found_first() -> None:
    async with door() as http:
        told = (await http.get("/api/tools/search", params={"q": "send a letter"})).json()
    assert told["tools"][0]["id"] == "mail.send" and told["tools"][0]["matched"]


@pytest.mark.req("RA-09")
async def test_a_tool_in_code_has_no_stored_versions() -> None:
    async with door() as http:
        told = (await http.get("/api/tools/sum-add/versions")).json()
        unknown = await http.get("/api/tools/no-such/versions")
    assert told == {"digest": add.digest, "versions": [], "next": None}
    assert unknown.status_code == 404
