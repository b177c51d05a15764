"""A key that a database knows has the same bounds at every door that takes one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from handrail import Principal
from handrail.identity.bootstrap import create_first_tenant
from handrail.identity.permissions import console_principal
from handrail.platform import platform_of
from tests.parity.cases import Case
from tests.parity.doors.keys import REAL, TEXTS
from tests.parity.doors.mcp_http import mcp_over_http
from tests.parity.doors.mcp_stdio import mcp_over_stdio
from tests.parity.doors.rest import rest
from tests.parity.people import PEOPLE, TENANT, open_shop
from tests.parity.recorded_handrail import RecordedHandrail
from tests.parity.run_table import PassResult, compare
from tests.parity.test_parity import holds

CASES = (
    Case("scoped", "stock.count", {"item": "bolt"}, who=REAL),
    Case("scoped", "words.echo", {"text": "a"}, who=REAL),
    Case("scoped", "stock.order", {"item": "bolt", "pieces": 5}, who=REAL),
    Case("scoped", "stock.drop", {"item": "bolt"}, who=REAL),
    Case("scoped", "stock.purge", {"dry_run": True}, who=REAL),
    Case("hidden", "stock.elsewhere", {}, who=REAL),
    Case("invalid", "stock.count", {}, who=REAL),
)


async def over_rest(folder: Path, reference: RecordedHandrail) -> PassResult:
    async with (
        open_shop(folder, _url(folder)) as hr,
        rest(RecordedHandrail(hr), platform=platform_of(hr)) as door,
    ):
        return await compare(door, reference, CASES)


async def over_mcp(folder: Path, reference: RecordedHandrail) -> PassResult:
    async with (
        open_shop(folder, _url(folder)) as hr,
        mcp_over_http(RecordedHandrail(hr), True, platform_of(hr)) as door,
    ):
        return await compare(door, reference, CASES)


async def over_stdio(folder: Path, reference: RecordedHandrail) -> PassResult:
    async with mcp_over_stdio(folder) as door:
        return await compare(door, reference, CASES)


@pytest.mark.req("BY-01")
@pytest.mark.timeout(180)
@pytest.mark.parametrize("through", [over_rest, over_mcp, over_stdio], ids=["rest", "mcp", "mcp stdio"])
def test_a_key_reaches_as_far_as_the_principal_it_stands_for(
    through: Callable[[Path, RecordedHandrail], Awaitable[PassResult]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text, principal = asyncio.run(_made(tmp_path))
    assert (principal.scope, principal.ceiling, principal.agent) == (("stock.*",), "read", "ops")
    monkeypatch.setitem(TEXTS, REAL, text)
    monkeypatch.setitem(PEOPLE, REAL, principal)

    async def pass_through() -> PassResult:
        async with open_shop(tmp_path) as hr:
            return await through(tmp_path, RecordedHandrail(hr))

    passed = asyncio.run(pass_through())
    holds(passed, CASES)
    assert not passed.left_out


async def _made(folder: Path) -> tuple[str, Principal]:
    async with open_shop(folder, _url(folder)) as hr:
        services = platform_of(hr).services
        assert services is not None
        founded = await create_first_tenant(services, TENANT)
        assert founded is not None
        text, _ = await services.keys.make(
            console_principal(TENANT),
            "bounded",
            user=founded.owner.id,
            agent="ops",
            tools=["stock.*"],
            ceiling="read",
        )
        return text.reveal(), await services.authenticator.principal_of(text.reveal())


def _url(folder: Path) -> str:
    return f"sqlite:///{folder / 'handrail.db'}"
