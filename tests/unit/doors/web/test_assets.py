"""Scripts, styles and icons as they go out."""

from __future__ import annotations

import gzip
import hashlib
import re
from pathlib import Path
from typing import Any

import handrail.doors.web
from handrail.doors.web.assets import asset_url, assets, serve_asset
from handrail.doors.web.humanize import _LEVELS, STATUS_LABELS
from handrail.doors.web.icons import DEFAULT_ICON, icon
from handrail.doors.web.layout import NAV_ITEMS


async def asked(path: str, method: str = "GET", **headers: str) -> tuple[int, dict[bytes, bytes], bytes]:
    said: list[Any] = []

    async def send(message: Any) -> None:
        said.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    given = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    await serve_asset({"type": "http", "path": path, "method": method, "headers": given}, receive, send)
    return said[0]["status"], dict(said[0]["headers"]), said[1]["body"]


async def test_an_address_names_what_is_behind_it_and_may_be_kept_for_ever() -> None:
    for name, one in assets().items():
        status, headers, body = await asked(asset_url(name))
        assert status == 200 and body == one.body
        assert hashlib.sha256(body).hexdigest()[:16] in one.url
        assert b"immutable" in headers[b"cache-control"]
        assert headers[b"x-content-type-options"] == b"nosniff"


async def test_it_goes_out_packed_to_whoever_can_unpack() -> None:
    one = assets()["app.css"]
    _, headers, body = await asked(one.url, accept_encoding="br, gzip")
    assert headers[b"content-encoding"] == b"gzip" and gzip.decompress(body) == one.body
    assert len(body) < len(one.body) / 3


async def test_what_is_not_there_is_not_there() -> None:
    for path in ("/static/", "/static/../app.py", "/static/0000000000000000/app.css", "/static/x/first.js"):
        assert (await asked(path))[0] == 404
    assert (await asked(asset_url("app.js"), "POST"))[0] == 404
    assert (await asked(asset_url("app.js"), "HEAD"))[2] == b""


def test_no_asset_names_another_place_to_load_from() -> None:
    for name in ("app.css", "app.js", "first.js"):
        text = assets()[name].body.decode()
        assert "@import" not in text and "sourceMappingURL=http" not in text


def test_an_icon_that_there_is_none_of_is_drawn_as_the_plain_one() -> None:
    assert icon("no-such-icon") == icon("wrench") == icon(None)
    assert "aria-hidden" in icon("x") and 'aria-label="gone"' in icon("x", "gone")


def test_every_icon_that_the_pages_name_is_there() -> None:
    folder = Path(handrail.doors.web.__file__).parent
    texts = [one.read_text() for one in folder.rglob("*.py")]
    named = {name for text in texts for name in re.findall(r'icon\("([a-z0-9-]+)"', text)}
    named |= {one.icon for one in STATUS_LABELS.values()} | {one.icon for one in NAV_ITEMS}
    named |= {name for name, _ in _LEVELS.values()}
    assert {name for name in named if name != DEFAULT_ICON and icon(name) == icon(DEFAULT_ICON)} == set()
