"""Embeds on SQLite and PostgreSQL: what a token opens, how often, and how it ends."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from handrail import Context, Outcome, Principal, tool
from handrail.core.define.ui_specs import FormSpec
from handrail.core.errors import UsageError
from handrail.core.find.visibility import ToolRow
from handrail.identity.embeds import normalise_origin, published_tool, published_tools, run_published_tool
from handrail.identity.errors import PermissionDenied
from handrail.identity.permissions import console_principal
from handrail.store.tools import save_tool_row
from tests.contract.shared.two_tenants import ACME, OTHER, TwoTenants, rating, two_tenants

HERE = "https://www.example.com"


async def publish(tenants: TwoTenants, by: Principal, *names: str, **more: Any) -> str:
    tools = [await tenants.tool(name, by) for name in names or ("image.draw",)]
    return (await tenants.services.embeds.publish(by, "Draw", tools, [HERE], **more))[0].reveal()


async def visit(
    tenants: TwoTenants, token: str, name: str = "image.draw", address: str = "192.0.2.1", **args: Any
) -> Outcome | str:
    found = await tenants.services.embeds.by_token(token)
    if found is None:
        return "gone"
    tool = await published_tool(tenants.hr, *found, name)
    if tool is None:
        return "no such tool"
    return await run_published_tool(tenants.hr, tenants.services.embeds, *found, tool, args, address)


def data(said: Outcome | str) -> Any:
    assert isinstance(said, Outcome), said
    assert said.ok, said
    return said.result.data


@pytest.mark.req("RA-13")
async def test_a_token_opens_the_tools_of_its_view_and_no_others(database_url: str) -> None:
    async with two_tenants(database_url) as tenants:
        ana = await tenants.person("owner")
        token = await publish(tenants, ana)
        assert data(await visit(tenants, token, text="cat")) == {"text": "cat", "model": "small"}
        for name in ("image.paint", "team.rate", "mail.send", "nothing"):
            assert await visit(tenants, token, name, text="cat") == "no such tool"
        found = await tenants.services.embeds.by_token(token)
        assert found is not None
        assert [one.id for one in await published_tools(tenants.hr, *found)] == ["image.draw"]
        wrong = (
            token[:-1] + ("0" if token[-1] != "0" else "1"),
            token.replace(ACME, OTHER),
            "hr" + token[2:],
        )
        assert [await visit(tenants, one) for one in wrong] == ["gone"] * 3


@pytest.mark.req("RA-13")
async def test_what_a_published_tool_calls_is_on_its_view_or_refused(database_url: str) -> None:
    @tool("image.both", level="read")
    async def both(text: str, *, ctx: Context) -> str:
        """Draw and paint."""
        return str((await ctx.call("image.paint", {"text": text})).code)

    async with two_tenants(database_url, both) as tenants:
        ana = await tenants.person("owner")
        alone, whole = (
            await publish(tenants, ana, "image.both"),
            await publish(tenants, ana, "image.both", "image.paint"),
        )
        assert data(await visit(tenants, alone, "image.both", text="x")) == "NOT_PERMITTED"
        assert data(await visit(tenants, whole, "image.both", text="x")) == "None"


@pytest.mark.req("MT-12")
async def test_what_was_disabled_since_is_still_shown_where_it_was_published(database_url: str) -> None:
    async with two_tenants(database_url) as tenants:
        ana = await tenants.person("owner")
        token = await publish(tenants, ana)
        row = ToolRow(ACME, "image-draw", "system_override", enabled=False)
        await tenants.services.db.write(ACME, lambda conn: save_tool_row(conn, ACME, row, at=1.0, by="ana"))
        tenants.services.tools.forget(ACME)
        assert (await tenants.hr.call("image.draw", {"text": "x"}, principal=ana)).code == "TOOL_NOT_FOUND"
        assert data(await visit(tenants, token, text="cat"))["text"] == "cat"


@pytest.mark.req("MT-12")
async def test_a_tool_of_one_tenant_alone_is_opened_by_a_token_of_that_tenant(database_url: str) -> None:
    async with two_tenants(database_url) as tenants:
        eve = await tenants.person("owner", tenant=OTHER, name="Eve")
        theirs = await publish(tenants, eve, "image.paint")
        assert await visit(tenants, theirs, "image.draw", text="x") == "no such tool"
        assert data(await visit(tenants, theirs, "image.paint", text="x")) == "x"


@pytest.mark.req("UI-16")
async def test_what_is_for_operators_only_is_ignored_whoever_sends_it(database_url: str) -> None:
    async with two_tenants(database_url) as tenants:
        token = await publish(tenants, await tenants.person("owner"))
        assert data(await visit(tenants, token, text="cat", model="huge")) == {
            "text": "cat",
            "model": "small",
        }


@pytest.mark.req("RA-13")
async def test_who_publishes_is_a_person_with_the_permission(sqlite_url: str) -> None:
    async with two_tenants(sqlite_url) as tenants:
        for role, name in (("viewer", "Vic"), ("operator", "Op"), ("approver", "Ap")):
            with pytest.raises(PermissionDenied, match=r"embeds\.manage"):
                await publish(tenants, await tenants.person(role, name=name))
        bea = await tenants.person("builder", name="Bea")
        with pytest.raises(PermissionDenied, match="a person looks after"):
            await publish(tenants, bea.spawn("ops"))
        with pytest.raises(PermissionDenied, match=r"rates\.give"):
            await tenants.services.embeds.publish(bea, "Rate", [rating()], [HERE])
        assert await publish(tenants, bea)


@pytest.mark.req("RA-13")
async def test_a_tool_that_requires_something_is_opened_by_whoever_holds_it(sqlite_url: str) -> None:
    async with two_tenants(sqlite_url) as tenants:
        token = await publish(tenants, await tenants.person("owner"), "team.rate")
        told = data(await visit(tenants, token, "team.rate", score=3))
        assert told["score"] == 3 and told["by"].startswith("embed:")


async def test_what_changes_things_or_cannot_be_called_by_a_visitor_is_not_published(sqlite_url: str) -> None:
    @tool("image.trace", level="read", form=FormSpec({"model": {"operator_only": True}}))
    async def trace(model: str) -> str:
        """Trace something."""
        return model

    async with two_tenants(sqlite_url, trace) as tenants:
        ana = await tenants.person("owner")
        with pytest.raises(UsageError, match="can change things"):
            await publish(tenants, ana, "mail.send")
        with pytest.raises(UsageError, match="needs model, which is for operators only"):
            await publish(tenants, ana, "image.trace")
        with pytest.raises(UsageError, match="1 to 20 tools"):
            await tenants.services.embeds.publish(ana, "None", [], [HERE])


@pytest.mark.req("RA-13")
async def test_the_kill_switch_works_at_once_and_back_and_revoking_is_for_good(database_url: str) -> None:
    async with two_tenants(database_url) as tenants:
        ana, embeds = await tenants.person("owner"), tenants.services.embeds
        token = await publish(tenants, ana)
        [made] = await embeds.list(ana)
        assert embeds.token(ana, made).reveal() == token and token not in repr(made)
        assert await embeds.change(ana, made.id, {"enabled": False})
        assert await visit(tenants, token, text="x") == "gone"
        assert await embeds.change(ana, made.id, {"enabled": True, "origins": ["https://b.example/"]})
        assert data(await visit(tenants, token, text="x"))
        found = await embeds.get(ana, made.id)
        assert found is not None and found.origins == ("https://b.example",)
        assert await embeds.revoke(ana, made.id) and not await embeds.revoke(ana, made.id)
        assert await visit(tenants, token, text="x") == "gone"
        assert not await embeds.change(ana, made.id, {"enabled": True})


async def test_an_embed_ends_when_its_time_is_over(database_url: str) -> None:
    async with two_tenants(database_url) as tenants:
        token = await publish(tenants, await tenants.person("owner"), lifetime=60)
        assert data(await visit(tenants, token, text="x"))
        tenants.time.turn(61)
        assert await visit(tenants, token, text="x") == "gone"


@pytest.mark.req("RA-13")
async def test_a_quota_holds_for_a_day_and_for_each_visitor_however_many_come_at_once(
    database_url: str,
) -> None:
    async with two_tenants(database_url) as tenants:
        ana = await tenants.person("owner")
        token = await publish(tenants, ana, runs_per_day=5, runs_per_visitor=2)
        first = await asyncio.gather(*(visit(tenants, token, text="x") for _ in range(6)))
        assert sum(isinstance(one, Outcome) for one in first) == 2
        assert {one for one in first if isinstance(one, str)} == {
            "You have used this as often as one visitor can in a day. Come back tomorrow."
        }
        others = [await visit(tenants, token, address=f"192.0.2.{n}", text="x") for n in range(2, 7)]
        assert [isinstance(one, Outcome) for one in others] == [True] * 3 + [False] * 2
        assert others[-1] == "This was used as often as it can be in a day. Come back tomorrow."
        [made] = await tenants.services.embeds.list(ana)
        assert await tenants.services.embeds.runs_today(ana, made.id) == 5
        tenants.time.turn(86_400)
        assert data(await visit(tenants, token, text="x"))
        assert await tenants.services.embeds.runs_today(ana, made.id) == 1


@pytest.mark.fault("F26")
async def test_nobody_of_another_tenant_sees_or_ends_an_embed(database_url: str) -> None:
    async with two_tenants(database_url) as tenants:
        token = await publish(tenants, await tenants.person("owner"))
        embeds, eve = tenants.services.embeds, console_principal(OTHER)
        made = await embeds.by_token(token)
        assert made is not None
        assert await embeds.list(eve) == [] and await embeds.get(eve, made[1].id) is None
        assert not await embeds.change(eve, made[1].id, {"enabled": False})
        assert not await embeds.revoke(eve, made[1].id)
        assert data(await visit(tenants, token, text="x"))


@pytest.mark.parametrize(
    "text",
    ["", "*", "example.com", "https://", "https://a.example/path", "https://a b", "https://a;script-src *",
     "https://a.example 'unsafe-inline'", "javascript://x", "https://user@a.example", "https://*.a.example",
     "https://a.example\nx", "null", "https://ä.example"],
)  # fmt: skip
def test_what_is_no_origin_is_refused_in_words(text: str) -> None:
    with pytest.raises(UsageError, match="is no origin"):
        normalise_origin(text)
