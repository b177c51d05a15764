"""Tools for the tests of the tool pages: one that counts, one that takes long, one that asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, expect

from tests.acceptance.server_process import running_server
from tests.acceptance.web.browser import DEADLINE, Window, sign_in, window

expect.set_options(timeout=DEADLINE)
TOOLS = '''
import asyncio
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from handrail import Context, Result, tool


class Line(BaseModel):
    item: str
    amount: float = Field(gt=0)


@tool("shop.quote", level="read", category="Shop", icon="calculator", name="Quote")
def quote(
    customer: Annotated[str, Field(min_length=1, title="Customer")],
    lines: Annotated[list[Line], Field(title="Lines")],
    rate: Annotated[float, Field(ge=0, le=1, title="Tax rate")] = 0.2,
    note: Annotated[str | None, Field(title="Note")] = None,
    kind: Annotated[Literal["plain", "formal"], Field(title="Kind")] = "plain",
) -> dict:
    """The sum of an order, with tax."""
    net = sum(one.amount for one in lines)
    return {"customer": customer, "net": net, "gross": round(net * (1 + rate), 2), "note": note, "kind": kind}


@tool("shop.count", level="write", danger="safe", category="Shop", name="Count up")
def count(folder: str, name: str = "x") -> dict:
    """Write one more line into a file."""
    path = Path(folder) / f"{name}.count"
    with path.open("a") as file:
        file.write("1")
    return {"count": len(path.read_text())}


@tool("work.slow", level="read", category="Work", icon="timer", name="Slow work")
async def slow(ctx: Context, gate: str, steps: int = 2) -> Result:
    """Say something, then wait until a file is there."""
    for at in range(steps):
        ctx.metadata(title=f"Step {at + 1} of {steps}")
        ctx.append_output(f"line {at + 1}\\n")
    while not Path(gate).exists():
        await asyncio.sleep(0.02)
    return Result(data={"steps": steps}, summary="All steps done")


@tool("work.wipe", level="destructive", danger="dangerous", category="Work", name="Wipe")
def wipe(folder: str) -> dict:
    """Remove what is in a folder."""
    (Path(folder) / "wiped").touch()
    return {"wiped": folder}


@tool("work.note", level="read", category="Work", name="Take a note")
def take_note(text: Annotated[str, Field(title="Text", json_schema_extra={"format": "textarea"})]) -> dict:
    """Count the letters of a note."""
    return {"letters": len(text)}


@tool("work.secret", level="read", category="Work", name="Secret word")
def secret(word: Annotated[str, Field(json_schema_extra={"format": "password"})], times: int = 1) -> dict:
    """Count the letters of a secret."""
    return {"letters": len(word) * times}


'''


@dataclass(frozen=True)
class ToolPageServer:
    """A server over these tools, and somebody who is signed in there."""

    folder: Path
    url: str
    cookies: list[Any]

    def enter(self, opened: Window) -> Window:
        """A window of the same person."""
        opened.context.add_cookies(self.cookies)
        return opened


@contextmanager
def tool_page_server(folder: Path, browser: Browser) -> Iterator[ToolPageServer]:
    """One server for the tests of a module; each works with files of its own."""
    (folder / "shop_of_tests.py").write_text(TOOLS)
    with running_server(folder, "--tools", "shop_of_tests.py") as served:
        assert served.link is not None
        owner = sign_in(window(browser, served.url), served.link)
        cookies = owner.context.cookies()
        owner.context.close()
        yield ToolPageServer(folder, served.url, list(cookies))
