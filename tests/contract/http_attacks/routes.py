"""Every way into the app, as the app itself knows them: routes, their parameters, and what to send."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from starlette.routing import Route as AnyRoute

from handrail.doors.http.router import Need, Route
from tests.contract.http_attacks.attacked_server import AttackedServer

OPEN = frozenset({"/api/openapi.json"})
"""What is there for everybody, and says nothing of anybody."""
BODIES: Mapping[str, Any] = {
    "approve": {},
    "call_tool": {},
    "explain_call": {},
    "override_tool": {"enabled": True},
    "reject": {},
    "respond": {"output": "done"},
    "save_role": {"permissions": []},
    "stream_call": {},
    "change_embed": {"enabled": True},
    "share_tool_session": {},
    "submit_to_session": {"arguments": {"text": "x"}},
}
"""Bodies that fit, for routes with an id in their path: nothing else may decide what is answered."""
UNKNOWN = "nothing_of_anybody"
QUERIES: Mapping[str, Mapping[str, str]] = {"purge_dead_letters": {"before": "0"}, "search_tools": {"q": "x"}}


@dataclass(frozen=True)
class RouteMethod:
    """One method of one route."""

    method: str
    route: Route

    @property
    def name(self) -> str:
        return f"{self.method} {self.route.path}"

    @property
    def need(self) -> Need:
        return self.route.need

    @property
    def places(self) -> list[str]:
        """The parameters in the path."""
        return sorted(self.route.param_convertors)

    def path(self, given: Mapping[str, str]) -> str:
        found = self.route.path
        for name, value in given.items():
            found = found.replace(f"{{{name}}}", value)
        return found

    def go(self, client: httpx.Client, given: Mapping[str, str], **more: Any) -> httpx.Response:
        """Ask, with a body that fits if one is wanted. Of a stream, the beginning is enough."""
        operation = self.route.operation_id or ""
        if operation in BODIES:
            more.setdefault("json", BODIES[operation])
        query = {**QUERIES.get(operation, {}), **more.pop("params", {})}
        return asked(client, self.method, self.path(given), params=query, **more)


def asked(client: httpx.Client, method: str, path: str, **more: Any) -> httpx.Response:
    """The answer; of one that is a stream, what comes first."""
    with client.stream(method, path, **more) as answer:
        if answer.headers.get("content-type", "").startswith("text/event-stream"):
            begun = next(answer.iter_raw(), b"")
            return httpx.Response(answer.status_code, headers=answer.headers, content=begun)
        answer.read()
        return answer


def ways(attacked: AttackedServer) -> Iterator[RouteMethod]:
    """Every method of every route. One that does not say who may use it is no route here."""
    for route in attacked.api.routes:
        if isinstance(route, AnyRoute) and route.path in OPEN:
            continue
        assert isinstance(route, Route), f"{route} says nothing of who may use it: declare it with need(...)"
        for method in sorted((route.methods or set()) - {"HEAD"}):
            yield RouteMethod(method, route)
