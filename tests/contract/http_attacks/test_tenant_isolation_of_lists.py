"""What everybody may ask for by itself tells nothing of another tenant, nor of how this is made."""

from __future__ import annotations

import httpx
import pytest

from tests.contract.http_attacks.attacked_server import ROLES, AttackedServer, inside
from tests.contract.http_attacks.routes import ways

NAMELESS = ("GET /api/me", "GET /api/usage", "GET /api/tools/search", "GET /api/plan")
"""Lists that name nothing even of one's own tenant."""


@pytest.mark.fault("F26")
@pytest.mark.parametrize("role", ROLES)
def test_no_list_tells_of_another_tenant(attacked: AttackedServer, role: str) -> None:
    with attacked.client(role) as client:
        for way in ways(attacked):
            if not way.places and way.method == "GET":
                answer = way.go(client, {})
                assert_clean(attacked, answer)
                if role == "owner" and way.name not in NAMELESS:
                    assert attacked.here.mark in answer.text or attacked.here.label in answer.text, way.name
        for path in ("/", "/healthz", "/readyz", "/sign-in", "/api/openapi.json", "/api", "/nowhere"):
            assert_clean(attacked, client.get(path))


def assert_clean(attacked: AttackedServer, answer: httpx.Response) -> None:
    told = answer.text + str(answer.headers)
    assert attacked.there.mark not in told
    assert attacked.there.label not in told
    assert inside(answer) is None
    assert answer.status_code < 500
