"""Links that fill in a form: the input as JSON, in an address. Secrets never go into one."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from handrail.core.define.secrecy import without
from handrail.core.define.tool import Tool
from handrail.doors.web.pages.tools.jsontext import NotJson, read_object
from handrail.doors.web.pages.tools.known import url_of

LONGEST = 4_000
"""Characters of a link that mail programs and servers still pass on."""


class TooLong(ValueError):
    """The input is too long for a link; save it under a name instead."""


def link_of(tool: Tool, value: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """The path of a page whose form is filled in like this, and which secrets were left out of it."""
    shown, left_out = without(dict(value), tool.secrets)
    told = json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode()
    packed = base64.urlsafe_b64encode(told).decode().rstrip("=")
    path = f"{url_of(tool)}?input={packed}"
    if len(path) > LONGEST:
        raise TooLong
    return path, left_out


def linked(tool: Tool, packed: str) -> dict[str, Any]:
    """The input of a link. One that was broken on the way says so; a secret in it is not taken."""
    try:
        text = base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True).decode()
        found = read_object(text)
    except (NotJson, ValueError):
        raise NotJson("The link is not whole, so nothing of it was filled in. Copy it again.") from None
    shown, _ = without(found, tool.secrets)
    return dict(shown)
