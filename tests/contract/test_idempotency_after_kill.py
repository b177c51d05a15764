"""A process is killed in the middle of an effect; others come with the same key."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from handrail import Handrail, Outcome, Policy, Principal, Tool, tool
from tests.harness.background_process import BackgroundProcess, database_fork_server

ANA = Principal("acme", "ana")


def paying(ledger: Path, idempotent: bool, forever: bool = False) -> Tool:
    @tool("pay.send", level="write", idempotent=idempotent)
    async def send(amount: int) -> int:
        """Send money."""
        with ledger.open("a") as lines:
            lines.write(f"{amount}\n")
        if forever:
            print("paid", flush=True)  # noqa: T201
            await asyncio.Event().wait()
        return amount

    return send


async def pay(hr: Handrail, key: str = "k1", amount: int = 5) -> Outcome:
    return await hr.call("pay.send", {"amount": amount}, principal=ANA, session="s1", idempotency_key=key)


async def pay_forever(url: str, ledger: str, idempotent: bool) -> None:
    tools = [paying(Path(ledger), idempotent, forever=True)]
    async with Handrail(tools, database=url, worker=False, policy=Policy(approval_mode="policy")) as hr:
        await pay(hr)


def pay_in_a_process(url: str, ledger: str, idempotent: bool, env: dict[str, str], said: str) -> None:
    os.environ.update(env)
    os.dup2(os.open(said, os.O_WRONLY), 1)
    asyncio.run(pay_forever(url, ledger, idempotent))


def killed_while_paying(url: str, ledger: Path, idempotent: bool) -> None:
    """A process that pays, and is killed before it can tell."""
    process = BackgroundProcess(
        database_fork_server(),
        "tests.contract.test_idempotency_after_kill:pay_in_a_process",
        url=url,
        ledger=str(ledger),
        idempotent=idempotent,
        env=dict(os.environ),
    )
    with process.output:
        try:
            assert process.output.readline() == "paid\n"
        finally:
            process.kill()
            assert process.wait(20) == -signal.SIGKILL


@pytest.mark.req("BY-12")
@pytest.mark.fault("F02", "F05")
@pytest.mark.parametrize("worker", [True, False], ids=["after recovery", "before recovery"])
@pytest.mark.parametrize("idempotent", [False, True], ids=["", "idempotent"])
async def test_an_effect_is_repeated_only_where_that_does_no_harm(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worker: bool, idempotent: bool
) -> None:
    monkeypatch.setenv("HANDRAIL_KEY", "5a" * 32)
    ledger = tmp_path / "ledger"
    await asyncio.to_thread(killed_while_paying, database_url, ledger, idempotent)
    policy = Policy(approval_mode="policy")
    tools = [paying(ledger, idempotent)]
    async with Handrail(tools, database=database_url, worker=worker, policy=policy) as hr:
        other = await pay(hr, amount=6)
        outs = await asyncio.gather(*(pay(hr) for _ in range(10)))
        assert (await pay(hr, "k2")).status == "completed"
    paid = await asyncio.to_thread(ledger.read_text)
    assert other.code == "KEY_REUSED"
    if idempotent:
        assert sorted(out.status for out in outs) == ["completed", *["duplicate"] * 9]
        assert paid.splitlines() == ["5", "5", "5"]
    else:
        assert {(out.status, out.code) for out in outs} == {("needs_review", "UNKNOWN_OUTCOME")}
        assert paid.splitlines() == ["5", "5"]
