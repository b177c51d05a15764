"""Tools for the parity of doors: one for each thing that a call can do. Command lines load it by its path."""

from __future__ import annotations

import asyncio
import time
from datetime import date
from typing import Any, Literal

from pydantic import BaseModel, Field, SecretStr

from handrail import Attachment, Context, Result, ToolError, tool

HUGE = 60_000
"""Characters: more than a model gets in one piece."""


@tool("stock.count", level="read", aliases={"count_stock": {"thing": "item"}})
async def count(item: str, include_reserved: bool = False, limit: int | None = None) -> int:
    """Say how many pieces of an item are in stock."""
    return min(12 if include_reserved else 9, limit or 99)


class Order(BaseModel):
    item: str
    pieces: int
    colour: str


@tool("stock.order", level="write")
async def order(item: str, pieces: int, colour: Literal["red", "green"] = "red") -> Order:
    """Order more pieces of an item."""
    return Order(item=item, pieces=pieces, colour=colour)


@tool("stock.drop", level="destructive")
async def drop(item: str) -> str:
    """Throw all pieces of an item away."""
    return f"{item} is gone"


@tool("stock.audit", level="read", policy="always_ask")
async def audit(where: str = "here") -> str:
    """Count everything by hand."""
    return "counted"


def _graver(args: Any) -> Literal["read", "destructive"]:
    return "read" if args.dry_run else "destructive"


@tool("stock.purge", level=_graver)
async def purge(dry_run: bool = True) -> str:
    """Remove what nobody bought; how grave that is, its argument says."""
    return "would remove 3" if dry_run else "removed 3"


@tool("stock.elsewhere", level="read", tenants=["other"])
async def elsewhere() -> str:
    """Belongs to another tenant."""
    return "never"


@tool("stock.vault", level="read", requires="vault.open")
async def vault() -> str:
    """Look into the vault."""
    return "gold"


@tool("stock.till", level="read", requires="shop.use")
async def till() -> str:
    """Look into the till."""
    return "coins"


@tool("stock.upload", level="read", capabilities=["network"])
async def upload() -> str:
    """Send the list to the supplier."""
    return "sent"


@tool("words.echo", level="read")
async def echo(text: str, place: dict[str, Any] | None = None) -> dict[str, Any]:
    """Give back what was sent."""
    return {"text": text, "place": place}


class Place(BaseModel):
    street: str
    number: int = Field(ge=1)


@tool("words.typed", level="read")
async def typed(
    number: int,
    ratio: float = 0.5,
    flag: bool = False,
    colour: Literal["red", "green"] = "red",
    tags: list[int] | None = None,
    day: date | None = None,
    place: Place | None = None,
) -> dict[str, Any]:
    """Show what arrived, and of which type."""
    return {
        "number": number,
        "ratio": ratio,
        "flag": flag,
        "colour": colour,
        "tags": tags,
        "day": None if day is None else day.isoformat(),
        "place": None if place is None else place.model_dump(),
    }


@tool("words.login", level="read")
async def login(pin: SecretStr) -> str:
    """Log in with a PIN."""
    return f"{len(pin.get_secret_value())} digits"


@tool("words.token", level="read")
async def token(*, ctx: Context) -> str:
    """Use a token that nobody has set."""
    return ctx.secret("PARITY_TOKEN")


@tool("fail.raise", level="read")
async def raising() -> str:
    """Fail, for a reason."""
    raise RuntimeError("the paper is jammed")


@tool("fail.code", level="read")
async def coded() -> str:
    """Fail with a code of its own."""
    raise ToolError("there is no paper", code="NO_PAPER")


@tool("fail.dict", level="read")
async def told() -> dict[str, str]:
    """Answer with an error."""
    return {"error": "no ink"}


@tool("fail.partly", level="read")
async def partly() -> Result:
    """Fail with what was done so far."""
    return Result.fail("only half was printed", code="HALF", data={"pages": 3}, summary="Half done")


@tool("fail.shape", level="read", output_schema={"type": "object", "required": ["total"]})
async def misshapen() -> dict[str, Any]:
    """Break its own promise."""
    return {"sum": 3}


@tool("fail.write", level="write")
async def failing_write(item: str) -> str:
    """Fail while it writes."""
    raise RuntimeError(f"{item} fell off the shelf")


_tries: dict[str, int] = {}


@tool("fail.twice", level="read", retry=3)
async def flaky(name: str) -> str:
    """Fail twice, then work."""
    _tries[name] = _tries.get(name, 0) + 1
    if _tries[name] < 3:
        raise ConnectionError("not yet")
    del _tries[name]
    return "at last"


@tool("slow.nap", level="read")
async def nap(seconds: float = 0.02) -> str:
    """Take a moment."""
    await asyncio.sleep(seconds)
    return "awake"


@tool("slow.late", level="read", timeout=0.05)
async def late() -> str:
    """Take too long."""
    await asyncio.sleep(30)
    return "never"


@tool("slow.wait", level="read")
async def wait(*, ctx: Context) -> str:
    """Wait until somebody stops it."""
    ctx.metadata(title="Waiting")
    ctx.append_output("half ")
    await asyncio.sleep(60)
    return "never"


@tool("slow.steps", level="read")
async def steps(*, ctx: Context) -> str:
    """Say how far it is."""
    ctx.metadata(title="Step 1 of 2")
    ctx.append_output("one\n")
    ctx.metadata(title="Step 2 of 2")
    ctx.append_output("two")
    return "both done"


@tool("slow.sync", level="read")
def in_thread(text: str) -> str:
    """Work in a thread."""
    time.sleep(0.01)
    return text.upper()


@tool("big.text", level="read")
async def big_text() -> str:
    """Write a long text."""
    return "0123456789" * (HUGE // 10)


@tool("big.list", level="read")
async def big_list(length: int = 20_000) -> list[int]:
    """List many numbers."""
    return list(range(length))


@tool("big.fail", level="read")
async def big_fail() -> str:
    """Fail with a long story."""
    raise RuntimeError("x" * HUGE)


@tool("nest.count", level="read")
async def nested(item: str, *, ctx: Context) -> str:
    """Count by another tool."""
    counted = await ctx.call("stock.count", {"item": item, "limit": "7"})
    return f"counted {counted.result.data}"


@tool("nest.vault", level="read")
async def nested_vault(*, ctx: Context) -> str:
    """Look into the vault by another tool."""
    seen = await ctx.call("stock.vault", {})
    return f"{seen.status} {seen.code}"


@tool("nest.order", level="read")
async def nested_order(*, ctx: Context) -> str:
    """Order by another tool, which may have to wait."""
    seen = await ctx.call("stock.order", {"item": "bolt", "pieces": 1})
    return f"{seen.status} {seen.code}"


@tool("out.none", level="read")
async def nothing() -> None:
    """Return nothing."""


@tool("out.text", level="read")
async def markdown() -> Result:
    """Write a report."""
    return Result(markdown="# Report\n\nAll **well**.", summary="A report", data={"pages": 1})


@tool("out.output", level="read")
async def plain_output() -> Result:
    """Write for the model, with data beside it."""
    return Result(output="read this", data=[1, 2], title="Two numbers", metadata={"source": "shelf"})


@tool("out.picture", level="read")
async def picture() -> Result:
    """Draw."""
    dot = Attachment("image/png", "dot.png", b"\x89PNG")
    return Result(summary="Drawn", output="a dot", attachments=(dot,))


@tool("out.odd", level="read")
async def odd() -> dict[str, Any]:
    """Return what JSON can hardly say."""
    return {"nan": float("nan"), "deep": [[[[[1]]]]], "": None, "big": 2**63}
