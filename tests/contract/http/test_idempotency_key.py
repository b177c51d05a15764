"""The answer to a call that was made before says where to look: at the one that ran."""

from __future__ import annotations

import pytest

from tests.contract.http_attacks.attacked_server import attacked_server


@pytest.mark.req("RA-12")
def test_the_url_of_a_duplicate_leads_to_the_call_that_ran(sqlite_url: str) -> None:
    with attacked_server(sqlite_url) as attacked, attacked.client("agent") as client:
        for _ in range(2):
            told = client.post(
                "/api/tools/echo.say/call",
                json={"arguments": {"text": "once"}},
                headers={"idempotency-key": "one"},
            ).json()
            found = client.get(told["url"])
            assert (found.status_code, found.json()["result"]["data"]) == (200, "once"), told
