"""What no page of ours would send: bodies that are no forms, values that fit nowhere, odd addresses."""

from __future__ import annotations

import base64
import json

from tests.contract.http_attacks.payloads import SOME

FORM = "application/x-www-form-urlencoded"
PARTS = "multipart/form-data; boundary=x"
MANY = "&".join(f"a{n}=" for n in range(20_001)).encode()
"""One field more than a form may have."""
BODIES: dict[str, tuple[str, bytes]] = {
    "nothing": (FORM, b""),
    "json": ("application/json", b'{"text": "x"}'),
    "broken parts": (PARTS, b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nhalf'),
    "no parts": (PARTS, b"hello"),
    "no utf-8": (FORM, b"=/text=%ff%fe&name=%ff&shown=%ff&_do=%ff&_json=%ff"),
    "no kind": ("", b"a=b"),
    "text": ("text/plain", b"text=x"),
    "names alone": (FORM, b"&&&=&=&%00=%00&"),
    "no boundary": ("multipart/form-data", b"--x\r\n"),
    "parts without names": (PARTS, b"--x\r\nContent-Disposition: form-data\r\n\r\na\r\n--x--\r\n"),
    "a lone surrogate": (FORM, b"name=%ED%A0%80&title=%ED%A0%80&%3D%2Ftext=%ED%A0%80&_json=%22%ED%A0%80%22"),
}
FIELDS = tuple(
    "name title email password link next tenant roles permissions others was tools origins runs_per_day days "
    "kind user agent ceiling lifetime theme new again present on back _face _json _name _from _key _call _to "
    "_do _touched =/text ?/text shown edits reason output data standing".split()
)
"""Every name that a form of ours has."""
DEEP = '{"a":' * 2_000 + "1" + "}" * 2_000
VALUES = (
    "a\x00b",
    DEEP,
    '{"text": "\\ud800"}',
    "-1",
    *SOME[1:],
    "9" * 5_000,
    "NaN",
    "\u202ex",
    '"\\udc00\\ud800"',
    '{"text": NaN}',
    '{"text": 1e999}',
    "add:/text",
    "remove:/../..",
    "choose:/text:99",
)
QUERIES = tuple(
    "after before top part q limit days done input saved call run seq who tool since until status source "
    "section sort.out all.out next link shown on category origin kind".split()
)
"""Every name that an address of ours takes."""
_HALF = base64.urlsafe_b64encode(json.dumps({"text": "\ud800"}).encode()).decode()
ASKED = ("-1", "a\x00b", _HALF, "9" * 30, "garbage", "\u202e", "1.5:x", "~", "W10", "e30", *SOME)
SHORT = 4
"""How many of each are tried in a hurry; all of them in the long run."""
