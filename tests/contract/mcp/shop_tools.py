"""Tools for the tests of the MCP door, and who uses them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from handrail import Attachment, Context, Principal, Result, tool

ANA = Principal("acme", "ana", permissions={"posts.write"}, agent="ops")
BO = Principal("other", "bo", permissions={"*"}, agent="ops")
REVIEWER = Principal("acme", "rita", permissions={"*"}, key="person")
KEYS = {"ana-key": ANA, "bo-key": BO}
PIXEL = b"\x89PNG\r\n\x1a\n"


class Total(BaseModel):
    total: int


@tool("math.add", level="read", output=Total)
async def add(a: int, b: int) -> Total:
    """Add two numbers."""
    return Total(total=a + b)


@tool("math.primes", level="read")
async def primes(below: int) -> list[int]:
    """The primes below a number."""
    return [n for n in range(2, below) if all(n % m for m in range(2, n))]


@tool("math.root", level="read")
async def root(of: float) -> float | None:
    """The root of a number, or nothing."""
    return None if of < 0 else of**0.5


@tool("math.fail", level="read")
async def fail(why: str) -> str:
    """Fail."""
    raise RuntimeError(f"/etc/secret {why}")


@tool("math.lie", level="read", output=Total)
async def lie() -> Any:
    """Break its own promise."""
    return {"total": "many"}


@tool("acme.only", level="read", tenants={"acme"})
async def only() -> str:
    """What only one tenant sees."""
    return "seen"


@tool("admin.purge", level="destructive", requires="admin.purge")
async def purge(name: str) -> str:
    """Purge something."""
    return name


@tool("media.show", level="read")
async def show(kind: str) -> Result:
    """Show a picture, a sound or a file."""
    kinds = {
        "image": Attachment("image/png", "dot.png", PIXEL),
        "audio": Attachment("audio/wav", "beep.wav", b"RIFF"),
        "text": Attachment("text/plain", "note.txt", "é".encode()),
        "file": Attachment("application/zip", "a.zip", b"PK"),
        "link": Attachment("text/csv", "all.csv", ref="https://example.com/all.csv"),
    }
    return Result(attachments=(kinds[kind],))


@tool("work.step", level="read")
async def step(ctx: Context) -> str:
    """Work in steps."""
    ctx.metadata(title="Half", progress=50, total=100)
    ctx.append_output("a line")
    ctx.metadata(progress=10)
    return "done"
