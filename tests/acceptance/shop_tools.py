"""Tools for the tests of the command line: one for each thing that a call can do."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, SecretStr

from handrail import Context, Result, define, tool

CLEAR = "\x1b[2J"
"""Clears a terminal, if it ever gets there."""


def _leave(trace: str | None, text: str) -> None:
    """A trace in the world, so that a test can see whether the body ran."""
    if trace is not None:
        Path(trace).write_text(text)


@tool("stock.count", level="read", aliases={"count_stock": {"thing": "item"}})
async def count_stock(item: str, include_reserved: bool = False, limit: int | None = None) -> int:
    """Say how many pieces of an item are in stock.

    Use it before stock.order. It does not know what is on its way.

    Args:
        item: The item, by its name in the catalogue.
        include_reserved: Whether to count what is promised to somebody.
    """
    return 12 if include_reserved else 9


class Order(BaseModel):
    item: str
    pieces: int
    colour: str
    tags: list[str]


@tool(
    "stock.order", level="write", preview=lambda args, ctx: f"{args.pieces} more of {args.item} on the shelf"
)
async def order_stock(
    item: str, pieces: int, colour: Literal["red", "green"] = "red", tags: list[str] | None = None
) -> Order:
    """Order more pieces of an item from the supplier."""
    return Order(item=item, pieces=pieces, colour=colour, tags=tags or [])


@tool("stock.drop", level="destructive")
async def drop_stock(item: str, trace: str | None = None) -> str:
    """Throw all pieces of an item away."""
    _leave(trace, item)
    return f"{item} is gone."


@tool("stock.audit", level="read", policy="always_ask")
async def audit_stock() -> str:
    """Count everything by hand."""
    return "counted"


@tool("stock.hidden", level="read", tenants=["elsewhere"])
async def hidden() -> str:
    """Belongs to somebody else."""
    return "never"


@tool("stock.vault", level="read", requires="vault.open")
async def vault() -> str:
    """Look into the vault."""
    return "gold"


@tool("words.echo", level="read")
async def echo(
    text: str,
    json: str = "",
    number: int | str = 0,
    place: dict[str, Any] | None = None,
    many: list[int] | None = None,
) -> dict[str, Any]:
    """Give back what was sent."""
    return {"text": text, "json": json, "number": number, "place": place, "many": many}


@tool("words.fail", level="read")
async def fail() -> str:
    """Fail, for a reason."""
    raise RuntimeError("the paper is jammed")


@tool("words.print", level="read")
def print_something() -> str:
    """Print, which a body should not do."""
    print("printed by the body")  # noqa: T201
    return "returned by the body"


@tool("words.login", level="read")
async def login(pin: SecretStr) -> str:
    """Log in with a PIN."""
    return f"{len(pin.get_secret_value())} digits"


@tool("words.token", level="read")
async def token(*, ctx: Context) -> str:
    """Use a token."""
    return f"{len(ctx.secret('SHOP_TOKEN'))} characters"


@tool("words.evil", level="read", guidance=f"{CLEAR}[bold red]Use it never.[/]")
async def evil(text: str = CLEAR, *, ctx: Context) -> Result:
    """Draw [bold]outside[/bold] \x1b[31mthe lines\x1b[0m\u202e."""
    ctx.metadata(title=f"progress {CLEAR}")
    ctx.append_output(f"chunk {CLEAR}")
    return Result(data={f"key {CLEAR}": text}, summary=f"summary [bold]{text}[/bold]", title="\x9b2J")


class Year(BaseModel):
    year: int
    cash: float


class Plan(BaseModel):
    npv: float
    years: list[Year]
    note: str


@tool(
    "calc.roi",
    level="read",
    sections=[
        {"key": "npv", "label": "Net present value", "type": "summary"},
        {"key": "years", "label": "Year by year", "type": "table", "config": {"columns": ["year", "cash"]}},
    ],
)
def roi(cost: float) -> Plan:
    """Work out what an investment is worth."""
    return Plan(npv=-cost, years=[Year(year=n, cash=n * 100 - cost) for n in (1, 2)], note="rounded")


@tool("calc.report", level="read")
async def report() -> Result:
    """Write a report in Markdown."""
    return Result(markdown="# Report\n\nAll **well**. [More](https://example.org/report)", summary="A report")


@tool("slow.wait", level="read")
async def wait(trace: str | None = None, *, ctx: Context) -> str:
    """Wait until somebody stops it, then clean up."""
    ctx.append_output("half ")
    ctx.metadata(title="Waiting")
    try:
        await asyncio.Event().wait()
    finally:
        _leave(trace, "cleaned up")
    return "never"


@tool("slow.stubborn", level="read")
def stubborn(*, ctx: Context) -> str:
    """Heed nothing."""
    ctx.metadata(title="Waiting")
    time.sleep(300)
    return "never"


@tool("slow.steps", level="read")
async def steps(*, ctx: Context) -> str:
    """Say how far it is."""
    ctx.metadata(title="Step 1 of 2")
    ctx.append_output("one\n")
    ctx.metadata(title="Step 2 of 2")
    ctx.append_output("two")
    return "both done"


async def _prepared(init: Any) -> dict[str, Any]:
    return {
        "description": "Set up when it is needed.",
        "level": "read",
        "params": {},
        "execute": lambda _: "set up",
    }


lazy = define("slow.lazy", _prepared)


@tool("big.list", level="read")
async def big_list() -> list[int]:
    """List many numbers."""
    return list(range(200_000))
