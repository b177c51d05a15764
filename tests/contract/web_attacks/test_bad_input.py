"""Whatever is sent to a page of ours is answered in words, never by a failure, and taken for nothing else."""

from __future__ import annotations

import re

import httpx
import pytest

from tests.contract.http_attacks.attacked_server import AttackedServer
from tests.contract.http_attacks.routes import asked
from tests.contract.web_attacks.malformed_requests import (
    ASKED,
    BODIES,
    FIELDS,
    FORM,
    MANY,
    PARTS,
    QUERIES,
    SHORT,
    VALUES,
)
from tests.contract.web_attacks.page_requests import (
    address,
    assert_safe_response,
    client,
    request_page,
    route_rows,
    sample_of,
    sample_tenant,
    sign_in_again,
)
from tests.contract.web_attacks.route_table import ROUTES

pytestmark = pytest.mark.long


def words(answer: httpx.Response) -> str:
    return re.sub(r"<[^>]*>", " ", answer.text)


def bodies(attacked: AttackedServer, http: httpx.Client, most: int) -> None:
    for name, row in route_rows("POST"):
        for kind, body in list(BODIES.values())[:most]:
            headers = {"content-type": kind} if kind else {}
            answer = http.post(
                address(name, row, sample_of(attacked, name, row)), content=body, headers=headers
            )
            sign_in_again(attacked, http, name)
            assert_safe_response(name, answer, body.decode("latin-1"))
            assert answer.status_code in (200, 303, 400, 404, 409, 422), (name, body[:40])


def values(attacked: AttackedServer, http: httpx.Client, most: int) -> None:
    """One value under every name, twice: the form as a whole, then as JSON."""
    for name, row in route_rows("POST"):
        thing = sample_of(attacked, name, row)
        for value in VALUES[:most]:
            for face in ("form", "json") if "_face" in row.form else ("form",):
                # the passwords differ: a new one would sign this browser out
                twice = [value, value] if len(value) < 100 else [value]
                given = {**dict.fromkeys(FIELDS, twice), "_face": [face], "again": ["x"]}
                if "shown" in row.form:
                    given["shown"] = [thing["shown"]]
                if face == "json":
                    del given["_call"], given["_do"]
                answer = http.post(address(name, row, thing), data=given)
                sign_in_again(attacked, http, name)
                assert_safe_response(name, answer, value)
                assert answer.status_code < 500, (name, value[:40])
    assert http.get("/").status_code == 200, "still signed in"


def queries(attacked: AttackedServer, http: httpx.Client, most: int) -> None:
    """Everything at once, and each part of an address by itself: one must not hide another."""
    for name, row in route_rows("GET"):
        thing = sample_of(attacked, name, row)
        names = ("on",) if name == "GET /live" else QUERIES
        for value in ASKED[:most]:
            answer = request_page(http, name, row, thing, params=dict.fromkeys(names, value))
            assert answer.status_code < 500, (name, value)
            if thing:
                answer = request_page(http, name, row, dict.fromkeys(thing, value))
                assert answer.status_code < 500, (name, value)


@pytest.mark.fault("F30")
def test_a_body_that_is_no_form_is_answered_in_words(attacked: AttackedServer) -> None:
    with client(attacked, "owner") as http:
        bodies(attacked, http, SHORT)
        kind, body = BODIES["no parts"]
        for headers in ({}, {"hx-request": "true"}):
            answer = http.post("/settings/members", content=body, headers={"content-type": kind, **headers})
            assert answer.status_code == 400
            assert "did not arrive whole" in words(answer)


@pytest.mark.fault("F30")
def test_more_fields_than_a_form_has_are_refused_in_words(attacked: AttackedServer) -> None:
    with client(attacked, "owner") as http:
        for path in ("/settings/members", "/tools/echo-say/run", "/tools/echo-say/check", "/sign-in"):
            answer = http.post(path, content=MANY, headers={"content-type": FORM})
            assert_safe_response(path, answer)
            assert answer.status_code == 400, path
            assert "more fields" in words(answer), path


@pytest.mark.fault("F30")
def test_a_field_of_nine_megabytes_is_answered(attacked: AttackedServer) -> None:
    large = b"x" * 9 * 2**20
    part = b'--x\r\nContent-Disposition: form-data; name="name"\r\n\r\n%b\r\n--x--\r\n' % large
    with client(attacked, "owner") as http:
        for kind, body in ((FORM, b"name=" + large), (PARTS, part)):
            headers = {"content-type": kind}
            renamed = http.post("/settings/profile/name", content=body, headers=headers)
            assert renamed.status_code == 400
            too_large = http.post("/settings/profile/name", content=body + large, headers=headers)
            assert too_large.status_code == 413
            for answer in (renamed, too_large):
                assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.fault("F30")
def test_anything_under_any_name_is_taken_or_refused_in_words(attacked: AttackedServer) -> None:
    """Wrong buttons, half characters, deep and endless values, each of them twice."""
    with client(attacked, "owner") as http:
        values(attacked, http, 3)


@pytest.mark.fault("F30")
def test_any_address_is_answered_in_words(attacked: AttackedServer) -> None:
    """Negative pages, cursors of nowhere, links that fill in nonsense, ids that are none."""
    with client(attacked, "owner") as http:
        queries(attacked, http, 2)
        for path in ("/runs", "/approvals", "/settings/dead-letters", "/tools/echo-say/history", "/sessions"):
            for headers in ({}, {"hx-request": "true"}):
                answer = asked(http, "GET", path, params={"after": "garbage"}, headers=headers)
                assert_safe_response(path, answer)
                assert answer.status_code in (200, 404, 409), path


@pytest.mark.fault("F29")
@pytest.mark.parametrize("act", ["approve", "reject", "respond"])
def test_a_forged_mark_decides_nothing(attacked: AttackedServer, act: str) -> None:
    name = f"POST /approvals/{{id}}/{act}"
    with client(attacked, "owner") as http:
        thing = sample_of(attacked, name, ROUTES[name])
        for shown in ("", "0" * 64, thing["shown"][:-1], sample_tenant(attacked).things["approval"]["shown"]):
            answer = request_page(
                http, name, ROUTES[name], thing, data={**ROUTES[name].filled(thing), "shown": shown}
            )
            assert answer.status_code == 409, shown
            assert "nothing was decided" in words(answer)
        for edits in ("", "[]", "null", '{"text": 1', '{"text": "\\ud800"}'):
            form = {"shown": thing["shown"], "edits": edits}
            if act == "approve":
                assert request_page(http, name, ROUTES[name], thing, data=form).status_code == 422, edits
        assert request_page(http, name, ROUTES[name], thing).status_code == 303, "it was open until now"
