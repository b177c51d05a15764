"""Pages of other places can neither post a form here nor read a page; and to look at one changes nothing."""

from __future__ import annotations

import httpx
import pytest

from tests.contract.http_attacks.attacked_server import AttackedServer
from tests.contract.web_attacks.database_contents import changed, database_contents
from tests.contract.web_attacks.page_requests import (
    client,
    request_page,
    route_rows,
    sample_of,
    sample_tenant,
    sign_in_again,
)

pytestmark = pytest.mark.long

ELSEWHERE = (
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:1"},
    {"origin": "http://127.0.0.1.evil.example"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1"},
)
"""What a browser sends for a form that stands on another page."""


def test_no_form_of_another_place_does_anything(attacked: AttackedServer, web_url: str) -> None:
    posts = [(name, row, sample_of(attacked, name, row)) for name, row in route_rows("POST")]
    before = database_contents(web_url)
    with client(attacked, "owner") as http:
        for name, row, thing in posts:
            for headers in ELSEWHERE:
                answer = request_page(http, name, row, thing, headers={**headers, "accept": "text/html"})
                assert answer.status_code == 403, (name, headers)
                assert "Pages of other places may not call this server" in answer.text
                assert "set-cookie" not in answer.headers, name
    assert changed(before, database_contents(web_url)) == {}


def test_a_form_of_our_own_is_taken(attacked: AttackedServer) -> None:
    """What is refused above is refused for where it comes from alone."""
    with client(attacked, "owner") as http:
        for headers in ({"origin": "http://127.0.0.1", "sec-fetch-site": "same-origin"}, {}):
            for name, row in route_rows("POST"):
                if name == "POST /tools/{slug}/saved/rename":
                    continue  # what it renames is another's by now
                answer = request_page(http, name, row, sample_of(attacked, name, row), headers=headers)
                sign_in_again(attacked, http, name)
                assert answer.status_code in (row.ok, row.but.get("owner", row.ok)) or "confirm" in name, name


@pytest.mark.parametrize("by_htmx", [False, True])
def test_to_look_changes_nothing(attacked: AttackedServer, web_url: str, by_htmx: bool) -> None:
    before = database_contents(web_url)
    headers = {"hx-request": "true"} if by_htmx else {}
    with client(attacked, "owner") as http:
        for name, row in route_rows("GET"):
            for _ in range(2):
                answer = request_page(http, name, row, sample_of(attacked, name, row), headers=headers)
                assert answer.status_code < 400, name
    assert changed(before, database_contents(web_url)) == {}


def test_what_another_place_frames_or_reads_shows_nothing(attacked: AttackedServer) -> None:
    """A request that names another origin gets no page at all; a link from there is no such request."""
    with client(attacked, "owner") as http:
        for name, row in route_rows("GET"):
            answer = request_page(
                http, name, row, sample_of(attacked, name, row), headers={"origin": "https://evil.example"}
            )
            assert answer.status_code == 403, name
            assert "access-control-allow-origin" not in answer.headers, name
        linked: httpx.Response = http.get("/runs", headers={"sec-fetch-site": "cross-site"})
        assert linked.status_code == 200
        framed = http.get(f"/embed/{sample_tenant(attacked).things['embed']['token']}")
        assert "frame-ancestors https://a.example" in framed.headers["content-security-policy"]
