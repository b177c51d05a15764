"""What everybody may ask for by itself tells nothing of another tenant, nor of how this is made."""

from __future__ import annotations

import httpx
import pytest

from tests.contract.http_attacks.attacked_server import ROLES, Premises, inside
from tests.contract.http_attacks.routes import ways

NAMELESS = ("GET /api/me", "GET /api/usage", "GET /api/tools/search", "GET /api/plan")
"""Lists that name nothing even of one's own tenant."""


@pytest.mark.fault("F26")
@pytest.mark.parametrize("role", ROLES)
def test_no_list_tells_of_another_tenant(place: Premises, role: str) -> None:
    with place.client(role) as client:
        for way in ways(place):
            if not way.places and way.method == "GET":
                answer = way.go(client, {})
                assert_clean(place, answer)
                if role == "owner" and way.name not in NAMELESS:
                    assert place.here.mark in answer.text or place.here.label in answer.text, way.name
        for path in ("/", "/healthz", "/readyz", "/sign-in", "/api/openapi.json", "/api", "/nowhere"):
            assert_clean(place, client.get(path))


def assert_clean(place: Premises, answer: httpx.Response) -> None:
    told = answer.text + str(answer.headers)
    assert place.there.mark not in told
    assert place.there.label not in told
    assert inside(answer) is None
    assert answer.status_code < 500
