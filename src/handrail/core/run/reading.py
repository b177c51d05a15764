"""read_result: the tool with which a model reads on where a result was cut."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from handrail.core.define.context import Context
from handrail.core.define.result import PAGE, Result
from handrail.core.define.styles import tool


@tool("read_result", level="read", category="handrail", icon="book-open", origin="system")
async def read_result(
    handle: Annotated[str, Field(description="The handle named where the result was cut")],
    offset: Annotated[int, Field(description="The character to read on from", ge=0)] = 0,
    limit: Annotated[int, Field(description="How many characters to read", ge=1, le=100_000)] = 30_000,
    *,
    ctx: Context,
) -> str | Result:
    """Read on in an earlier result that was too large to show in full."""
    text = await ctx.read_result(handle, offset, limit)
    page = {"handle": handle, "offset": offset, "length": min(len(text), limit)}
    return Result(data=text, output=text, metadata={PAGE: page})
