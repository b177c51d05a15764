"""A shop whose every effect is written into a ledger outside of the process."""

from __future__ import annotations

import asyncio
from pathlib import Path

from handrail import Context, Handrail, Policy, Principal, tool
from handrail.ext.ports import Clock
from tests.harness.ledger import LedgerWriter

CLERK = Principal(tenant="acme", user="ana")
AGENT = Principal(tenant="acme", user="ana", agent="ops")
REVIEWER = Principal(tenant="acme", user="bea", permissions=frozenset({"approvals.decide"}))
SESSION = "counter"
LIFETIME = 3_600.0
"""How long the shop waits for a person, in seconds."""


class _ShopEnvironment:
    """What the bodies have at hand: a pen, and a folder in which the test leaves signs for them."""

    ledger_writer: LedgerWriter
    signs: Path


def use(ledger_writer: LedgerWriter, signs: Path) -> None:
    _ShopEnvironment.ledger_writer, _ShopEnvironment.signs = ledger_writer, signs


def _effect(name: str, order: str, ctx: Context) -> None:
    _ShopEnvironment.ledger_writer.write("effect", tool=name, order=order, call=ctx.call_id)


async def _released(order: str) -> None:
    while True:
        if (_ShopEnvironment.signs / f"release-{order}").exists():
            return
        await asyncio.sleep(0.005)


@tool("shop.charge", level="write")
async def charge(order: str, *, ctx: Context) -> str:
    """Charge a card. Twice is wrong."""
    _effect("shop.charge", order, ctx)
    return f"charged {order}"


@tool("shop.refund", level="write", policy="always_ask")
async def refund(order: str, *, ctx: Context) -> str:
    """Pay money back, once a person has agreed. Twice is wrong."""
    _effect("shop.refund", order, ctx)
    return f"refunded {order}"


@tool("shop.print", level="write")
def print_label(order: str, *, ctx: Context) -> str:
    """Print a label, in a thread. Twice is wrong."""
    _effect("shop.print", order, ctx)
    return f"printed {order}"


@tool("shop.index", level="write", idempotent=True)
async def index(order: str, *, ctx: Context) -> str:
    """Put an order into the index. Twice is as good as once."""
    _effect("shop.index", order, ctx)
    return f"indexed {order}"


@tool("shop.look", level="read")
async def look(order: str, *, ctx: Context) -> str:
    """Look at an order."""
    _effect("shop.look", order, ctx)
    return f"looked at {order}"


@tool("shop.ship", level="write")
async def ship(order: str, *, ctx: Context) -> str:
    """Ship, which takes until the test says so. Twice is wrong."""
    _effect("shop.ship", order, ctx)
    await _released(order)
    return f"shipped {order}"


@tool("shop.sync", level="write", idempotent=True)
async def sync(order: str, *, ctx: Context) -> str:
    """Bring stores in line, which takes until the test says so. Twice is as good as once."""
    _effect("shop.sync", order, ctx)
    await _released(order)
    return f"synced {order}"


@tool("shop.stamp", level="write")
async def stamp(order: str, *, ctx: Context) -> str:
    """Stamp a form; fails before it did anything until the test has mended the stamp."""
    if not (_ShopEnvironment.signs / f"mended-{order}").exists():
        raise RuntimeError("the stamp is broken")
    _effect("shop.stamp", order, ctx)
    return f"stamped {order}"


ONCE = frozenset({"shop.charge", "shop.refund", "shop.print", "shop.ship", "shop.stamp"})
"""Tools whose effect must not happen twice."""


def open_shop(database: str | None, clock: Clock | None = None, worker: bool = True) -> Handrail:
    return Handrail(
        [charge, refund, print_label, index, look, ship, sync, stamp],
        policy=Policy(approval_mode="policy"),
        approval_lifetime=LIFETIME,
        cancel_grace=2.0,
        clock=clock,
        database=database,
        worker=worker,
    )
