"""A shop whose every effect is written into a ledger outside of the process."""

from __future__ import annotations

from handrail import Context, Handrail, Policy, Principal, tool
from tests.harness.ledger import Pen

CLERK = Principal(tenant="acme", user="ana")
AGENT = Principal(tenant="acme", user="ana", agent="ops")
REVIEWER = Principal(tenant="acme", user="bea")
SESSION = "counter"

_pens: list[Pen] = []


def use(pen: Pen) -> None:
    """Write effects with this pen."""
    _pens[:] = [pen]


def _effect(name: str, order: str, ctx: Context) -> None:
    _pens[0].write("effect", tool=name, order=order, call=ctx.call_id)


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


ONCE = frozenset({"shop.charge", "shop.refund", "shop.print"})
"""Tools whose effect must not happen twice."""


def open_shop(database: str | None) -> Handrail:
    tools = [charge, refund, print_label, index, look]
    policy = Policy(approval_mode="policy")
    if database is None:
        return Handrail(tools, policy=policy)
    return Handrail(tools, policy=policy, database=database)  # type: ignore[call-arg]
