"""Markup that came in by any way stays text on every page: the page has no other elements than with words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape, unescape
from typing import Any

import httpx
import pytest

from tests.contract.http_attacks.attacked_server import HERE, THERE, AttackedServer, attacked_server
from tests.contract.http_attacks.routes import asked
from tests.contract.web_attacks.html_tree import HtmlTree
from tests.contract.web_attacks.malformed_requests import FIELDS, QUERIES
from tests.contract.web_attacks.markup_tenant import MARKUP, MarkupTenant, markup_tenant
from tests.contract.web_attacks.page_requests import address, assert_safe_response, route_rows, sign_in_again
from tests.contract.web_attacks.route_table import RouteRow

pytestmark = pytest.mark.long

DRAWN = frozenset({"/live", "/frame"})
"""What is no page of ours."""


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AttackedServer]:
    home, tools = markup_tenant(MARKUP)
    folder = tmp_path_factory.mktemp("painted")
    with attacked_server(f"sqlite:///{folder / 'handrail.db'}", home=home, tools=tools) as found:
        yield found


Pair = list[tuple[MarkupTenant, httpx.Client]]


@pytest.fixture
def owners(attacked: AttackedServer) -> Iterator[Pair]:
    """The owners of both: of the tenant with markup, and of the one with words."""
    assert isinstance(attacked.here, MarkupTenant) and isinstance(attacked.there, MarkupTenant)
    with attacked.client("owner", tenant=HERE) as here, attacked.client("owner", tenant=THERE) as there:
        yield [(attacked.here, here), (attacked.there, there)]


def drawn(
    home: MarkupTenant, http: httpx.Client, name: str, row: RouteRow, more: Mapping[str, Any]
) -> httpx.Response:
    method = name.partition(" ")[0]
    thing = home.things.get(row.thing or "", {})
    answer = asked(http, method, address(name, row, thing), **more)
    assert_safe_response(name, answer, home.paint)
    return answer


def compared(name: str, answers: list[httpx.Response]) -> bool:
    """Whether the two are the same page; then nothing of the paint became a part of it."""
    painted, plain = answers
    kinds = [one.headers.get("content-type", "") for one in answers]
    if not kinds[0].startswith("text/html") or any(one in name for one in DRAWN):
        return False
    assert HtmlTree(painted.text).wrong == [], name
    if painted.status_code != plain.status_code:
        return False
    trees = [HtmlTree(one.text).found for one in answers]
    if name == "GET /settings/usage":  # its sums come a while later, each tenant's by itself
        return set(trees[0]) == set(trees[1])
    assert trees[0] == trees[1], name
    return True


@pytest.mark.parametrize("by_htmx", [False, True])
def test_what_is_stored_stays_text_on_every_page(owners: Pair, by_htmx: bool) -> None:
    headers = {"hx-request": "true"} if by_htmx else {}
    same, shown = 0, 0
    for name, row in route_rows("GET"):
        answers = [drawn(home, http, name, row, {"headers": headers}) for home, http in owners]
        assert answers[0].status_code == answers[1].status_code, name
        same += compared(name, answers)
        shown += "&lt;/title&gt;" in answers[0].text
    assert same > 50
    assert shown > 30, "the paint is there to be found"


def test_the_snippet_of_an_embed_is_html_that_one_can_paste(owners: Pair) -> None:
    """Decoded once, as it is copied, it is one frame; its title stays a title."""
    home, http = owners[0]
    page = http.get(f"/settings/embeds/{home.things['embed']['id']}").text
    snippet = unescape(page.partition('id="snippet"')[2].partition(">")[2].partition("</textarea>")[0])
    assert [one[0] for one in HtmlTree(snippet).found] == ["iframe", "/iframe"]
    assert HtmlTree(snippet).found[0] == ("iframe", "height", "src", "title", "width")


def test_what_is_asked_or_posted_stays_text_in_the_answer(attacked: AttackedServer, owners: Pair) -> None:
    """What was found may differ, and what is refused; of what kinds of elements a page is made does not."""
    kinds: list[dict[tuple[str, ...], str]] = [{}, {}]
    reflected = 0
    for name, row in route_rows():
        for (home, http), known in zip(owners, kinds, strict=True):
            if name == "GET /live":
                continue
            params = dict.fromkeys(QUERIES, home.paint)
            posts = {**dict.fromkeys(FIELDS, home.paint), "again": "x"}
            sent = {"params": params} if name.startswith("GET") else {"data": posts}
            for more in ({}, sent) if name.startswith("GET") else (sent,):
                answer = drawn(home, http, name, row, more)
                sign_in_again(attacked, http, name, "owner" if home is attacked.here else "foreign")
                if answer.headers.get("content-type", "").startswith("text/html") and "/frame" not in name:
                    tree = HtmlTree(answer.text)
                    assert tree.wrong == [], name
                    known |= dict.fromkeys(tree.found, name)
                    reflected += bool(more) and escape(home.paint) in answer.text
    assert {kind: at for kind, at in kinds[0].items() if kind not in kinds[1]} == {}
    assert reflected > 10, "what was sent is there to be found"
