"""handrail serve: the first start, the next one, and the end of it."""

from __future__ import annotations

import json
import re
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.acceptance.forked_cli import handrail
from tests.acceptance.server_process import running_server
from tests.harness.poll import poll_until

SLOW = """
import asyncio
from pathlib import Path

from handrail import tool


@tool("slow.read", level="read")
async def read(seconds: float, mark: str) -> dict:
    \"\"\"Wait, then answer.\"\"\"
    Path(mark).touch()
    await asyncio.sleep(seconds)
    return {"waited": seconds}
"""


def sign_in(http: httpx.Client, link: str) -> httpx.Response:
    """As a browser does: look at the page, press its button."""
    page = http.get(link.removeprefix(str(http.base_url).rstrip("/")))
    assert page.status_code == 200 and "<form" in page.text
    hidden = re.search(r'name="link" value="([^"]+)"', page.text)
    assert hidden is not None
    return http.post("/sign-in", data={"link": hidden[1]}, headers={"sec-fetch-site": "same-origin"})


def test_the_first_start_makes_everything_and_lets_the_owner_in_once(tmp_path: Path) -> None:
    with running_server(tmp_path, "--demo", "--owner", "ana@acme.example", fresh=True) as served:
        assert served.link is not None and (tmp_path / "handrail.db").exists()
        with served.http() as http:
            nobody = http.get("/")
            assert nobody.status_code == 303 and nobody.headers["location"] == "/sign-in"
            assert http.get("/api/tools").status_code == 401
            let_in = sign_in(http, served.link)
            assert let_in.status_code == 303 and "HttpOnly" in let_in.headers["set-cookie"]
            assert "SameSite=lax" in let_in.headers["set-cookie"]
            assert "What waits for you" in http.get("/").text
            names = [one["id"] for one in http.get("/api/tools").json()["tools"]]
            assert "data.searchRecords" in names
        with served.http() as again:
            assert again.post("/sign-in", data={"link": served.link.partition("link=")[2]}).status_code == 400
            assert again.get("/api/tools").status_code == 401
        served.stop()
    with running_server(tmp_path, "--demo", HANDRAIL_WORKSPACE=".") as served:
        assert re.match(r"Handrail serves \d\d tools and the tools of the workspace at ", served.said[0])
        assert served.link is None
        said = served.said[-1].partition("handrail sign-in ")[2]
        made = handrail("sign-in", *said.split(), "--json", cwd=tmp_path)
        with served.http() as http:
            assert sign_in(http, made.json["url"]).status_code == 303
            assert http.post("/sign-out").status_code == 303
            assert http.get("/api/tools").status_code == 401


@pytest.mark.req("RA-11", "RA-12")
def test_a_key_of_the_command_line_opens_rest_and_what_is_revoked_opens_nothing(tmp_path: Path) -> None:
    with running_server(tmp_path, "--demo") as served:
        key = served.key("shop", "--for", served.owner())
        with served.http(key) as http:
            body = {"arguments": {"region": "north"}}
            answer = http.post("/api/tools/data.searchRecords/call", json=body)
            assert answer.status_code == 200 and answer.json()["result"]["data"]["total"] == 3
            assert (
                handrail(
                    "keys", "revoke", key.split("_")[2], "--database", "sqlite:///handrail.db", cwd=tmp_path
                ).code
                == 0
            )
            codes = {http.get("/api/me").status_code for _ in range(3)}
            while codes != {401}:  # a server believes what it read for a second
                codes = {http.get("/api/me").status_code}
        code, logged = served.stop()
    assert code == 0
    told = [json.loads(line) for line in logged]
    assert any(one.get("path") == "/api/tools/data.searchRecords/call" for one in told)
    assert key not in "".join(logged) and key.rpartition("_")[2] not in "".join(logged)


def test_asked_to_stop_it_finishes_what_has_begun(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    with running_server(tmp_path, "--tools", "slow.py", fresh=True) as served:
        key = served.key("shop", "--for", served.owner())
        answers: list[Any] = []

        def call() -> None:
            with served.http(key) as http:
                body = {"arguments": {"seconds": 1.0, "mark": str(tmp_path / "began")}}
                answers.append(http.post("/api/tools/slow.read/call", json=body))

        caller = threading.Thread(target=call)
        caller.start()
        poll_until((tmp_path / "began").exists)
        code, _ = served.stop()
        caller.join(30)
    assert code == 0 and answers[0].json()["result"]["data"] == {"waited": 1.0}


def test_what_does_not_finish_in_time_is_cancelled_and_told(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    with running_server(tmp_path, "--tools", "slow.py", HANDRAIL_STOP_GRACE="1") as served:
        key = served.key("shop", "--for", served.owner())

        def call() -> None:
            body = {"arguments": {"seconds": 600.0, "mark": str(tmp_path / "began")}}
            with served.http(key) as http, suppress(httpx.TransportError):
                http.post("/api/tools/slow.read/call", json=body)

        caller = threading.Thread(target=call)
        caller.start()
        poll_until((tmp_path / "began").exists)
        code, _ = served.stop()
        caller.join(30)
    done = handrail("events", "--database", "sqlite:///handrail.db", "--json", cwd=tmp_path)
    assert code == 0 and [one["type"] for one in done.json] == ["tool.started", "tool.cancelled"]


@pytest.mark.fault("F09")
def test_two_servers_share_neither_a_file_nor_a_port(tmp_path: Path) -> None:
    with running_server(tmp_path, "--demo") as served:
        same_file = handrail("serve", "--port", "0", cwd=tmp_path)
        assert same_file.code != 0 and str(served.process.pid) in same_file.err
        (tmp_path / "other").mkdir()
        port = served.url.rpartition(":")[2]
        same_port = handrail("serve", "--port", port, cwd=tmp_path / "other")
        assert same_port.code != 0 and "--port" in same_port.err and "Traceback" not in same_port.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--port", "70000"), "less than or equal to 65535"),
        (("--port", "0", "--host", "no.such.invalid"), "--host"),
    ],
)
def test_a_place_where_nobody_can_listen_is_told(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = handrail("serve", *words, cwd=tmp_path)
    assert done.code != 0 and said in done.err and "Traceback" not in done.err
