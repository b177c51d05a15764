"""Going to a page of the table, and what holds for everything that comes back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import httpx

from handrail.identity.permissions import BUILT_IN_ROLES
from handrail.platform.middleware import SESSION_COOKIE
from tests.contract.http_attacks.attacked_server import HERE, THERE, AttackedServer, inside
from tests.contract.http_attacks.routes import asked
from tests.contract.web_attacks.route_table import OPEN, OWN, PERSON, ROUTES, SIGNED_IN, RouteRow
from tests.contract.web_attacks.sample_tenant import Samples, SampleTenant

WHO = (*BUILT_IN_ROLES, "agent", "nobody", "foreign")
"""Everybody who comes; `foreign` is an owner of another tenant, who has all ids of this one."""


def sample_tenant(attacked: AttackedServer) -> SampleTenant:
    """The tenant whose things are asked for."""
    assert isinstance(attacked.here, SampleTenant)
    return attacked.here


def client(attacked: AttackedServer, who: str, **more: Any) -> httpx.Client:
    return (
        attacked.client("owner", tenant=THERE)
        if who == "foreign"
        else attacked.client(who, tenant=HERE, **more)
    )


ENDS = frozenset({"POST /sign-out", "POST /switch"})
"""After these the session of a browser is another one, or over."""


def sign_in_again(attacked: AttackedServer, http: httpx.Client, name: str, who: str = "owner") -> None:
    """Sign in again where a session may have ended."""
    if name in ENDS and who not in ("agent", "nobody"):
        home, role = (attacked.there, "owner") if who == "foreign" else (attacked.here, who)
        assert isinstance(home, SampleTenant)
        http.headers["cookie"] = f"{SESSION_COOKIE}={attacked.run(home.sign_in(role))}"


def route_rows(method: str | None = None) -> Iterator[tuple[str, RouteRow]]:
    yield from ((name, row) for name, row in ROUTES.items() if method is None or name.startswith(method))


def sample_of(attacked: AttackedServer, name: str, row: RouteRow, who: str = "owner") -> Samples:
    """What the address names: a fresh one where it is used up."""
    if row.thing is None:
        return {}
    used_up = name.startswith("POST") and expected_status(row, who) != 404
    return (
        attacked.run(sample_tenant(attacked).make(row.thing))
        if used_up
        else sample_tenant(attacked).things[row.thing]
    )


def address(name: str, row: RouteRow, thing: Mapping[str, str]) -> str:
    path = name.partition(" ")[2]
    for at, value in thing.items():
        written = quote(value, safe="")
        path = path.replace(f"{{{at}}}", written).replace(f"{{{at}:path}}", written)
    assert "{" not in path, f"{name}: nothing to put into the address"
    return path + row.query


def request_page(http: httpx.Client, name: str, row: RouteRow, thing: Samples, **more: Any) -> httpx.Response:
    """Ask as a browser would; whatever comes back must be kept to itself."""
    method = name.partition(" ")[0]
    if method == "POST" and "content" not in more:
        more.setdefault("data", row.filled(thing))
    answer = asked(http, method, address(name, row, thing), **more)
    assert_safe_response(name, answer)
    return answer


def expected_status(row: RouteRow, who: str) -> int:
    """What the table says."""
    if who in row.but:
        return row.but[who]
    if row.need == OPEN:
        return row.ok
    if who == "nobody":
        return 303
    if who == "foreign":
        return 404 if row.thing not in (None, "tool", "shared_tool") else row.ok
    holds = BUILT_IN_ROLES.get(who, frozenset())
    may = row.need == SIGNED_IN or (row.need == PERSON and who != "agent") or holds & {row.need, "*"}
    return row.ok if may and row.need != OWN else 404


def assert_safe_response(name: str, answer: httpx.Response, sent: str = "") -> None:
    """No answer tells how this is made, is stored, is taken for something else or framed by strangers."""
    told = (name, answer.status_code, answer.text[-300:])
    headers = answer.headers
    assert answer.status_code != 500, told
    assert headers["x-content-type-options"] == "nosniff", told
    assert "no-store" in headers["cache-control"], told
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; "), told
    assert "frame-ancestors " in policy, told
    if "/frame" in name and answer.status_code == 200:  # a tool's own page, in a sandbox
        assert "sandbox" in policy, told
    else:
        assert "unsafe" not in policy and "*" not in policy.partition("frame-ancestors")[0], told
        assert inside(answer, sent) is None, (name, inside(answer, sent))
    kind = headers.get("content-type", "text/html; charset=utf-8")
    if not kind.startswith(("text/html; charset=utf-8", "text/event-stream", "application/json")):
        assert headers["content-disposition"].startswith("attachment"), told
    for cookie in headers.get_list("set-cookie"):
        assert "samesite=lax" in cookie.lower(), told
        assert "httponly" in cookie.lower() or cookie.startswith("handrail_theme="), told
