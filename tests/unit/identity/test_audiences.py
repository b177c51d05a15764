"""Where a key may be used: one list, which REST and the web app offer as it is."""

from __future__ import annotations

from typing import get_args

from handrail.doors.http.keys import NewKey
from handrail.doors.web.pages.settings import keys as key_page
from handrail.identity.api_keys import AUDIENCES, Audience


def test_rest_and_the_web_app_offer_the_audiences_that_a_key_can_have() -> None:
    [choices, nothing] = NewKey.model_json_schema()["properties"]["audience"]["anyOf"]
    assert choices["enum"] == list(AUDIENCES) == list(get_args(Audience)) and nothing == {"type": "null"}
    assert set(key_page._AUDIENCES) == {"", *AUDIENCES}
