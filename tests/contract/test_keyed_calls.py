"""Calls under an idempotency key: a draft whose process is killed, a second call while the first waits."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from handrail import Handrail, Outcome, Policy, Principal, Tool, tool
from tests.contract.backends import KINDS

ANA = Principal("acme", "ana", permissions={"*"})
OPS = Principal("acme", "ana", agent="ops")
FREE = Policy(approval_mode="danger")


def drafting(file: str, is_fatal: bool, idempotent: bool = False) -> Tool:
    @tool("letters.draft", level="draft", idempotent=idempotent)
    def draft(to: str) -> str:
        """Draft a letter."""
        drafts = Path(file)
        drafts.write_text(f"{drafts.read_text() if drafts.exists() else ''}{to}\n")
        if is_fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return to

    return draft


async def draft(hr: Handrail, key: str | None = "k1") -> Outcome:
    return await hr.call("letters.draft", {"to": "bo"}, principal=ANA, session="s1", idempotency_key=key)


async def killed_while_drafting(
    url: str, file: Path, idempotent: bool = False, key: str | None = "k1"
) -> None:
    code = (
        "import asyncio, sys; from handrail import Handrail; "
        "from tests.contract.test_keyed_calls import FREE, draft, drafting; "
        f"tools = [drafting(sys.argv[2], True, {idempotent!r})]; "
        "hr = Handrail(tools, database=sys.argv[1], policy=FREE, worker=False); "
        f"asyncio.run(draft(hr, {key!r}))"
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code, url, str(file)), cwd=Path(__file__).parents[2]
    )
    assert await process.wait() == -signal.SIGKILL


@pytest.fixture
def url(database_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HANDRAIL_KEY", "5a" * 32)
    monkeypatch.setenv("HANDRAIL_LEASE", "1")
    return database_url


@pytest.mark.req("BY-12")
@pytest.mark.fault("F01")
async def test_a_keyed_draft_that_was_killed_in_its_body_does_not_run_twice(url: str, tmp_path: Path) -> None:
    file = tmp_path / "drafts"
    await killed_while_drafting(url, file)
    async with Handrail([drafting(str(file), False)], database=url, policy=FREE) as hr:
        async with asyncio.timeout(30):
            out = await draft(hr)
    assert (out.status, out.code) == ("needs_review", "UNKNOWN_OUTCOME")
    assert file.read_text() == "bo\n"


@pytest.mark.req("BY-12")
@pytest.mark.parametrize(("idempotent", "key"), [(True, "k1"), (False, None)], ids=["idempotent", "no key"])
async def test_a_draft_that_may_be_repeated_is(
    url: str, tmp_path: Path, idempotent: bool, key: str | None
) -> None:
    file = tmp_path / "drafts"
    await killed_while_drafting(url, file, idempotent, key)
    async with Handrail([drafting(str(file), False, idempotent)], database=url, policy=FREE) as hr:
        async with asyncio.timeout(30):
            assert (await draft(hr, key)).status == "completed"
    assert file.read_text() == "bo\nbo\n"


@pytest.mark.req("BY-12", "AP-08")
@pytest.mark.parametrize("kind", KINDS)
async def test_a_second_call_under_a_waiting_key_names_the_call_to_wait_for(
    kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_KEY", "5a" * 32)
    names = {"sqlite": "sqlite_url", "postgresql": "postgres_url"}
    database = request.getfixturevalue(names[kind]) if kind in names else None

    @tool("pay.send", level="write")
    async def send(amount: int) -> str:
        """Send money."""
        return f"sent {amount}"

    async with Handrail([send], database=database) as hr:
        first, second = [
            await hr.call("pay.send", {"amount": 1}, principal=OPS, idempotency_key="k1") for _ in range(2)
        ]
        assert (first.status, second.status) == ("pending", "pending")
        assert second.approval_id == first.approval_id is not None
        waits = asyncio.create_task(hr.wait(second.call_id, 30, principal=OPS))
        await hr.approvals.approve(first.approval_id, by=ANA)
        assert (await waits).result.data == "sent 1"
