"""A team with a tool that they fill in together, one for pages of others, and such a page."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from tests.acceptance.server_process import ServerProcess, running_server

TOOLS = '''
"""Tools of a team."""

from typing import Annotated, Any

from pydantic import Field

from handrail import tool
from handrail.ext.forms import FormSpec


def together(outputs: list[Any]) -> dict[str, Any]:
    return {"mean": sum(one["score"] for one in outputs) / len(outputs), "answers": len(outputs)}


@tool("team.rate", name="Rate an idea", level="read", collaborative=True, aggregate=together)
async def rate(
    score: Annotated[int, Field(ge=1, le=10, title="Score")],
    remark: Annotated[str, Field(title="Remark", json_schema_extra={"format": "textarea"})] = "",
) -> dict[str, Any]:
    """Say how good an idea is."""
    return {"score": score, "remark": remark}


@tool("image.draw", name="Draw", level="read", form=FormSpec({"model": {"operator_only": True}}))
async def draw(
    text: Annotated[str, Field(title="What to draw", min_length=2)],
    model: Annotated[str, Field(title="Model")] = "small",
) -> dict[str, str]:
    """Draw something."""
    return {"text": text, "model": model}


@tool("image.paint", name="Paint", level="read")
async def paint(
    text: Annotated[str, Field(title="What to paint", json_schema_extra={"format": "textarea"})],
) -> dict[str, str]:
    """Paint something."""
    return {"painted": text}
'''
DATABASE = "sqlite:///handrail.db"


class SharedToolServer:
    """A server with the team's tools, and what its owner does beside the pages."""

    def __init__(self, served: ServerProcess, owner: httpx.Client) -> None:
        self.served = served
        self.owner = owner

    def post(self, path: str, **body: Any) -> Any:
        answer = self.owner.post(path, json=body)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def session(self, title: str = "Which idea first?") -> str:
        """A new session; its path."""
        made = self.post("/api/tool-sessions", tool="team.rate", title=title)
        return f"/tools/team-rate/session/{made['id']}"

    def link(self, path: str) -> str:
        """The path by which guests join it."""
        return str(self.post(f"/api/tool-sessions/{path.rpartition('/')[2]}/share")["share_url"])

    def submissions(self, path: str) -> list[Any]:
        told = self.owner.get(f"/api/tool-sessions/{path.rpartition('/')[2]}/submissions").json()
        return list(told["submissions"])

    def embed(self, *tools: str, **more: Any) -> Any:
        return self.post("/api/embeds", title="On our site", tools=list(tools or ["image.draw"]), **more)


@contextmanager
def shared_tool_server(folder: Path) -> Iterator[SharedToolServer]:
    (folder / "team_tools.py").write_text(TOOLS)
    with running_server(folder, "--tools", "team_tools.py", "--database", DATABASE) as served:
        key = served.key("owner", "--for", served.owner(), "--kind", "person")
        with served.http(key) as owner:
            yield SharedToolServer(served, owner)


@contextmanager
def page_of_others(name: str = "localhost") -> Iterator[tuple[str, dict[str, str]]]:
    """A site of somebody else, on loopback; its address, and its pages by path."""
    pages: dict[str, str] = {}

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages.get(self.path, "").encode()
            self.send_response(200 if body else 404)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{name}:{server.server_address[1]}", pages
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
