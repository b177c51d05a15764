"""Every page × everybody who may come: the table says who is let in, and a new page cannot be forgotten."""

from __future__ import annotations

import httpx
import pytest

from handrail.doors.web.app import build_web
from tests.contract.http_attacks.attacked_server import AttackedServer
from tests.contract.http_attacks.test_routes import OTHERWISE
from tests.contract.web_attacks.page_requests import (
    WHO,
    client,
    expected_status,
    request_page,
    route_rows,
    sample_of,
    sample_tenant,
    sign_in_again,
)
from tests.contract.web_attacks.route_table import OPEN, ROUTES
from tests.contract.web_attacks.sample_tenant import Samples

pytestmark = pytest.mark.long


@pytest.mark.fault("F26")
def test_every_page_stands_in_the_table(attacked: AttackedServer) -> None:
    web = build_web(attacked.platform)
    there = {
        f"{method} {route.path}" for route in web.routes for method in route.methods or () if method != "HEAD"
    }
    web.live.close()
    assert there == set(ROUTES)


@pytest.mark.req("RA-12")
@pytest.mark.fault("F26")
@pytest.mark.parametrize("who", WHO)
def test_a_page_is_there_exactly_for_those_of_whom_the_table_says_so(
    attacked: AttackedServer, who: str
) -> None:
    """What one may not see is answered exactly as what does not exist."""
    with client(attacked, who) as http:
        for name, row in route_rows():
            thing = sample_of(attacked, name, row, who)
            answer = request_page(http, name, row, thing)
            sign_in_again(attacked, http, name, who)
            assert answer.status_code == expected_status(row, who), (name, who, answer.text[-300:])
            if who == "nobody" and row.need != OPEN:
                assert answer.headers["location"].startswith("/sign-in"), name
            elif answer.status_code == 404:
                strange = {at: _other(at, value) for at, value in thing.items()}
                unknown = request_page(http, name, row, strange)
                assert said(answer, thing) == said(unknown, strange), (name, who)
            if who == "foreign" and row.need != OPEN:
                assert sample_tenant(attacked).mark not in answer.text, name
                assert sample_tenant(attacked).label not in answer.text, name


@pytest.mark.fault("F26")
def test_a_list_shows_nothing_of_another_tenant(attacked: AttackedServer) -> None:
    """Also when its own ids are given as filters and places to go on from."""
    with client(attacked, "foreign") as http:
        for name, row in route_rows("GET"):
            if row.thing is not None or name == "GET /live":
                continue
            for kind in ("run", "approval", "together"):
                for filter in ("after", "q", "session"):
                    value = sample_tenant(attacked).things[kind]["id"]
                    answer = http.get(name.partition(" ")[2], params={filter: value})
                    assert answer.status_code < 500, (name, answer.text)
                    assert sample_tenant(attacked).mark not in answer.text, (name, filter)


def _other(at: str, value: str) -> str:
    """Something of the same shape that nobody has; what only says which part of it stays."""
    return value if at in ("slug", "seq", "section", "number") else value.translate(OTHERWISE)


def said(answer: httpx.Response, thing: Samples) -> tuple[int, str, dict[str, str]]:
    """All of an answer but what is of this one request."""
    text = answer.text
    for value in sorted(thing.values(), key=len, reverse=True):
        text = text.replace(value, "<id>")
    ours = ("date", "x-request-id", "content-length")
    return answer.status_code, text, {k: v for k, v in answer.headers.items() if k not in ours}
