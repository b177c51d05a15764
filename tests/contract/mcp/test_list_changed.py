"""Clients that listen are told when their own tool list is another one."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from handrail import Handrail, Principal
from handrail.platform import FixedKeys, platform_of
from handrail.store.tenants import create_tenant
from tests.contract.mcp import shop_tools
from tests.contract.mcp.server import opened, until


async def test_a_listener_hears_of_a_tool_that_comes_and_of_none_it_may_not_see() -> None:
    async with (
        Handrail([shop_tools.add]) as hr,
        opened(platform_of(hr, shop_tools.KEYS), look_every=60) as door,
        door.client("bo-key") as client,
        client.listen(tools_list_changed=True) as heard,
    ):
        changes = aiter(heard)
        hr.registry.register(shop_tools.only)  # for acme alone
        hr.registry.register(shop_tools.primes)
        await asyncio.wait_for(anext(changes), 20)
        waiting = asyncio.ensure_future(anext(changes))
        hr.registry.unregister("acme.only")
        done, _ = await asyncio.wait([waiting], timeout=0.3)
        assert not done, "nothing changed for them"
        hr.registry.unregister("math.primes")
        await asyncio.wait_for(waiting, 20)


@pytest.mark.req("MC-01")
async def test_a_listener_hears_that_its_tenant_turned_a_tool_off(sqlite_url: str) -> None:
    async with Handrail([shop_tools.add, shop_tools.primes], database=sqlite_url) as hr:
        platform = platform_of(hr)
        services = platform.services
        assert services is not None
        with services.db.transaction("acme") as conn:
            create_tenant(conn, "acme", "Acme", at=0.0)
        root = Principal("acme", "root", permissions={"*"})
        text, made = await services.keys.make(root, "ops")
        async with (
            opened(platform, look_every=0.05) as door,
            door.client(text.reveal(), cache=None) as client,
            client.listen(tools_list_changed=True) as heard,
        ):
            await services.tool_admin.override(root, "math-primes", {"enabled": False})
            await asyncio.wait_for(anext(aiter(heard)), 20)
            assert [one.name for one in (await client.list_tools()).tools] == ["math__add"]
            await services.keys.revoke(root, made.id)
            with pytest.raises(StopAsyncIteration):
                await asyncio.wait_for(anext(aiter(heard)), 20)


class Slow(FixedKeys):
    """Takes its time once it is told to."""

    gate: asyncio.Event | None = None

    async def principal_of(self, key: str, audience: str | None = None) -> Principal:
        if self.gate is not None and audience == "mcp" and self.past == 1:
            await self.gate.wait()
        self.past += 1
        return await super().principal_of(key, audience)

    past = 0


async def test_who_is_told_that_it_listens_misses_nothing_from_then_on() -> None:
    async with Handrail([shop_tools.add]) as hr:
        who = Slow(shop_tools.KEYS)
        async with (
            opened(replace(platform_of(hr), auth=who), look_every=60) as door,
            door.client("ana-key") as client,
        ):
            who.gate, who.past = asyncio.Event(), 0  # the entrance asks first, then whoever looks
            listening = client.listen(tools_list_changed=True)
            begun = asyncio.ensure_future(listening.__aenter__())
            done, _ = await asyncio.wait([begun], timeout=0.3)
            assert not done, "it does not look yet, so it does not say so"
            who.gate.set()
            heard = await begun
            hr.registry.register(shop_tools.primes)
            await asyncio.wait_for(anext(aiter(heard)), 20)
            await listening.__aexit__(None, None, None)


async def test_those_who_listen_are_let_go_when_the_platform_closes() -> None:
    async with Handrail([shop_tools.add]) as hr:
        platform = platform_of(hr, shop_tools.KEYS)
        async with (
            opened(platform, look_every=60) as door,
            door.client("ana-key") as client,
            client.listen(tools_list_changed=True) as heard,
        ):
            platform.closing.set()
            with pytest.raises(StopAsyncIteration):
                await asyncio.wait_for(anext(aiter(heard)), 20)


async def test_a_listener_that_left_leaves_nothing_behind() -> None:
    async with Handrail([shop_tools.add]) as hr, opened(platform_of(hr, shop_tools.KEYS)) as door:
        before = len(hr.registry.listeners.all)
        async with door.client("ana-key") as client, client.listen(tools_list_changed=True):
            assert len(hr.registry.listeners.all) == before + 1
        await until(lambda: len(hr.registry.listeners.all) == before)
