"""Text that no keyboard has, that a terminal obeys or that is very long: shown, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest

from handrail import Principal
from handrail.core.define.call import Outcome
from tests.contract.http_attacks.attacked_server import HERE, AttackedServer
from tests.contract.web_attacks.html_tree import HtmlTree
from tests.contract.web_attacks.page_requests import assert_safe_response, client

pytestmark = pytest.mark.long

ODD = {
    "a zero": "a\x00b<b>",
    "other directions": "\u202e\u2066<b>\u200b\u2028x",
    "half a character": "\ud800<b>\udc00",
    "long": "<b>x</b> " * 12_000,
    "a formula": '=HYPERLINK("https://evil.example","<b>")',
    "moves a cursor": "\x1b[2J\x1b]0;x\x07<b>",
}


@pytest.mark.fault("F30")
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_odd_text_stays_text(attacked: AttackedServer, odd: str) -> None:
    who, hr = Principal(HERE, "ana", agent="bot"), attacked.platform.hr
    with client(attacked, "owner") as http:
        for name in ("paint.all", "echo.fail", "echo.send"):
            done = attacked.run(hr.call(name, {"text": odd}, principal=who, source="api"))
            for path in _pages(name.replace(".", "-"), done):
                _look(http, path, odd)
            if name == "paint.all" and done.ok:
                sheet = http.get(f"/runs/{done.call_id}/result.csv", params={"section": "rows"})
                assert sheet.status_code == 200
                assert not re.search(r"(?m)^\"?[=+@]|,\"?[=+@]", sheet.text)


def _pages(slug: str, done: Outcome) -> Iterator[str]:
    """Where the text of a call is shown."""
    yield from (f"/runs/{done.call_id}{part}" for part in ("", "/input", "/result", "/story", "/events/1"))
    yield from (f"/tools/{slug}?call={done.call_id}", "/runs", "/", "/settings/dead-letters")
    if done.approval_id is not None:
        yield from ("/approvals", f"/approvals/{done.approval_id}", f"/approvals/{done.approval_id}/edit")


def _look(http: httpx.Client, path: str, odd: str) -> None:
    answer = http.get(path)
    assert_safe_response(path, answer, odd)
    assert HtmlTree(answer.text).wrong == [], path
    assert "\x00" not in answer.text and "\x1b" not in answer.text, path
    assert "<b>x</b> <b>" not in answer.text and "<b>\u200b" not in answer.text, path
