"""Whatever is posted to a form of ours is answered in words: never by a failure of ours, and nothing is taken
for what it is not."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import httpx
import pytest

from tests.contract.http_attacks.bodies import SOME
from tests.contract.http_attacks.premises import Premises
from tests.contract.web_attacks.going import address, assert_kept, client, go, house, rows, thing_of
from tests.contract.web_attacks.table import TABLE, Row

FORM = "application/x-www-form-urlencoded"
PARTS = "multipart/form-data; boundary=x"
MANY = "&".join(f"a{n}=" for n in range(20_001)).encode()
BODIES: dict[str, tuple[str, bytes]] = {
    "nothing": (FORM, b""),
    "no kind": ("", b"a=b"),
    "json": ("application/json", b'{"text": "x"}'),
    "text": ("text/plain", b"text=x"),
    "no utf-8": (FORM, b"=/text=%ff%fe&name=%ff&shown=%ff&_do=%ff&_json=%ff"),
    "names alone": (FORM, b"&&&=&=&%00=%00&"),
    "broken parts": (PARTS, b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nhalf'),
    "no boundary": ("multipart/form-data", b"--x\r\n"),
    "parts without names": (PARTS, b"--x\r\nContent-Disposition: form-data\r\n\r\na\r\n--x--\r\n"),
    "no parts": (PARTS, b"hello"),
    "a lone surrogate": (FORM, b"name=%ED%A0%80&title=%ED%A0%80&%3D%2Ftext=%ED%A0%80&_json=%22%ED%A0%80%22"),
}
NAMES = ("name", "title", "email", "password", "link", "next", "tenant", "roles", "permissions", "others", "was",
         "tools", "origins", "runs_per_day", "days", "kind", "user", "agent", "ceiling", "lifetime", "theme",
         "new", "again", "present", "on", "back", "_face", "_json", "_name", "_from", "_key", "_call", "_to",
         "_do", "_touched", "=/text", "?/text", "shown", "edits", "reason", "output", "data", "standing")  # fmt: skip
DEEP = '{"a":' * 5_000 + "1" + "}" * 5_000
VALUES = (
    *SOME,
    "-1",
    "9" * 5_000,
    "NaN",
    "\u202ex",
    DEEP,
    '{"text": "\\ud800"}',
    '"\\udc00\\ud800"',
    '{"text": NaN}',
    '{"text": 1e999}',
    "add:/text",
    "remove:/../..",
    "choose:/text:99",
)


def words(answer: httpx.Response) -> str:
    return re.sub(r"<[^>]*>", " ", answer.text)


def post(
    http: httpx.Client, name: str, row: Row, thing: dict[str, str], kind: str, body: bytes
) -> httpx.Response:
    headers = {"content-type": kind} if kind else {}
    answer = http.post(address(name, row, thing), content=body, headers=headers)
    assert_kept(name, answer, body[:200_000].decode("latin-1"))
    return answer


@pytest.mark.req("UI-01")
@pytest.mark.fault("F29", "F30")
def test_a_body_that_is_no_form_is_answered_in_words(place: Premises) -> None:
    with client(place, "owner") as http:
        for name, row in rows("POST"):
            for kind, body in BODIES.values():
                answer = post(http, name, row, thing_of(place, name, row), kind, body)
                assert answer.status_code in (200, 303, 400, 409, 422, 404), (name, body[:40])
                if answer.status_code == 400 and kind == PARTS:
                    assert "did not arrive whole" in words(answer), name


@pytest.mark.fault("F30")
def test_more_fields_than_a_form_has_are_refused_in_words(place: Premises) -> None:
    with client(place, "owner") as http:
        for name, row in rows("POST"):
            answer = post(http, name, row, house_thing(place, row), FORM, MANY)
            if answer.status_code not in (
                303,
                404,
            ):  # it has nothing to read, or nothing it could read it for
                assert answer.status_code == 400, name
                assert "more fields" in words(answer), name


@pytest.mark.fault("F30")
@pytest.mark.parametrize("many", [False, True])
def test_anything_under_any_name_is_taken_or_refused_in_words(place: Premises, many: bool) -> None:
    """Wrong buttons, forged marks, half characters, deep and endless values; also each of them twice."""
    with client(place, "owner") as http:
        for name, row in rows("POST"):
            thing = thing_of(place, name, row)
            for value in VALUES:
                given: Any = {one: [value, value] if many else value for one in NAMES}
                if "shown" in row.form and value != "-1":
                    given["shown"] = thing["shown"]
                answer = http.post(address(name, row, thing), data=given)
                assert_kept(name, answer, value)
                assert answer.status_code < 500, (name, value[:60])


@pytest.mark.fault("F30")
def test_a_forged_mark_decides_nothing(place: Premises) -> None:
    with client(place, "owner") as http:
        for act in ("approve", "reject", "respond"):
            name = f"POST /approvals/{{id}}/{act}"
            thing = thing_of(place, name, TABLE[name])
            for shown in ("", "0" * 64, thing["shown"][:-1], thing["shown"].upper()):
                form = {**TABLE[name].filled(thing), "shown": shown}
                answer = go(http, name, TABLE[name], thing, data=form)
                assert answer.status_code == 409, (act, shown)
                assert "nothing was decided" in words(answer)
            assert "Needs" in words(http.get(f"/approvals/{thing['id']}")) or act


@pytest.mark.fault("F30")
def test_any_address_is_answered_in_words(place: Premises) -> None:
    """Negative pages, cursors of nowhere, links that fill in nonsense, ids that are none."""
    link = base64.urlsafe_b64encode(json.dumps({"text": "\ud800"}).encode()).decode()
    values = (
        *SOME,
        "-1",
        "9" * 30,
        "9" * 400,
        "\u202e",
        "x" * 3_000,
        "e30",
        link,
        base64.b64encode(DEEP.encode()).decode()[:6_000],
    )
    names = ("after", "before", "top", "part", "q", "limit", "days", "done", "input", "saved", "call", "run", "seq",
             "who", "tool", "since", "until", "status", "source", "section", "sort.out", "all.out", "next", "link",
             "shown", "on", "category", "origin", "kind")  # fmt: skip
    with client(place, "owner") as http:
        for name, row in rows("GET"):
            thing = thing_of(place, name, row)
            for value in values:
                answer = go(
                    http,
                    name,
                    row,
                    thing,
                    params=dict.fromkeys(names[3:4] if name == "GET /live" else names, value),
                )
                assert answer.status_code < 500, (name, value[:40])
            for value in (*SOME, "-1", "9" * 30, "..", "."):
                strange = dict.fromkeys(thing, value)
                answer = go(http, name, row, strange)
                assert answer.status_code < 500, (name, value)


@pytest.mark.fault("F30")
def test_each_odd_part_of_an_address_alone(place: Premises) -> None:
    """A bad cursor must not be hidden behind another one."""
    with client(place, "owner") as http:
        for path in ("/runs", "/sessions", "/approvals", "/approvals/list", "/tools", "/settings/dead-letters",
                     "/tools/echo-say", "/tools/echo-say/history", "/settings/usage", "/settings/embeds/new"):  # fmt: skip
            for at in (
                "after",
                "before",
                "top",
                "input",
                "call",
                "run",
                "saved",
                "part",
                "since",
                "until",
                "days",
            ):
                for value in (
                    "-1",
                    "9" * 30,
                    "garbage",
                    "a\x00b",
                    "\U0010ffff",
                    "\u202e",
                    "1.5:x",
                    "~",
                    "W10",
                ):
                    for headers in ({}, {"hx-request": "true"}):
                        answer = http.get(path, params={at: value}, headers=headers)
                        assert_kept(f"{path}?{at}={value!r}", answer)
                        assert answer.status_code < 500, (path, at, value)


def house_thing(place: Premises, row: Row) -> dict[str, str]:
    return {} if row.thing is None else house(place).things[row.thing]
