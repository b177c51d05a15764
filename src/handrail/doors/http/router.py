"""Routes that state who may use them; the OpenAPI document follows from that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.requests import Request
from starlette.routing import request_response

from handrail.core.define.levels import Source
from handrail.core.define.principal import Principal
from handrail.doors.http.errors import needs_database, not_permitted, not_signed_in
from handrail.doors.http.parameters import JsonBody
from handrail.doors.http.schemas import ErrorBody
from handrail.engine.handrail import Handrail
from handrail.identity.services import Services
from handrail.platform import Platform
from handrail.platform.access import source_of

_STATUS_DESCRIPTIONS = {
    400: "The request or its body cannot be read.",
    401: "Nobody is signed in, or the key does not hold.",
    403: "You may not do that.",
    404: "There is no such thing, or it is not yours to see.",
    409: "It does not fit how things stand.",
    413: "The body is too large.",
    415: "The body is not declared as JSON.",
    421: "This server is not known under that name.",
    422: "Something in the request is wrong.",
    429: "Too many requests for this key.",
    499: "The call was cancelled.",
    500: "Something is wrong here.",
    503: "Something that is needed cannot be reached now.",
}
_COMMON_STATUSES = (400, 401, 403, 404, 413, 421, 422, 429, 500, 503)


class Need:
    """Who may use a route: somebody who is signed in, and holds the permission if there is one.

    With `own`, whoever is behind a thing may use it without the permission: the route sees to that, and
    answers everybody else as if there were nothing.
    """

    def __init__(self, permission: str | None = None, own: bool = False) -> None:
        self.permission = permission
        self.own = own

    async def __call__(self, request: Request) -> Principal:
        who = signed_in(request)
        if self.permission is not None and not self.own and not who.holds(self.permission):
            raise not_permitted(self.permission)
        return who


def need(permission: str | None = None, *, own: bool = False) -> Any:
    """The need of a route, as a dependency that gives the principal."""
    return Depends(Need(permission, own))


SignedIn = Annotated[Principal, need()]


async def _source(request: Request) -> Source:
    return source_of(request)


async def _platform(request: Request) -> Platform:
    platform: Platform = request.app.state.platform
    return platform


async def _handrail(request: Request) -> Handrail:
    platform: Platform = request.app.state.platform
    return platform.hr


async def _services(request: Request) -> Services:
    platform: Platform = request.app.state.platform
    if not platform.can_sign_in:
        raise needs_database()
    return platform.require_services()


ThePlatform = Annotated[Platform, Depends(_platform)]
TheHandrail = Annotated[Handrail, Depends(_handrail)]
TheServices = Annotated[Services, Depends(_services)]
TheSource = Annotated[Source, Depends(_source)]


class Route(APIRoute):
    """A route whose document follows from what it depends on."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        needs = [
            dependency for dependency in _nested_dependencies(self.dependant) if isinstance(dependency, Need)
        ]
        if len(needs) != 1:
            raise TypeError(f"{path}: say once who may use it: need(...)")
        self.need = needs[0]
        extra: dict[str, Any] = dict(self.openapi_extra or {})
        extra["x-permission"] = self.need.permission
        if self.need.own:
            extra["x-own"] = True
        for dependency in _nested_dependencies(self.dependant):
            if isinstance(dependency, JsonBody):
                extra["requestBody"] = openapi_request_body(dependency.model, not dependency.optional)
        self.openapi_extra = extra
        self.operation_id = endpoint.__name__.rstrip("_")


class RawRoute(Route):
    """A route whose function gets the request as it is.

    No dependency is resolved for it, not even the need: the function asks `signed_in` itself.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        self.app = request_response(endpoint)


def signed_in(request: Request) -> Principal:
    """Whoever asks."""
    who: Principal | None = request.scope["state"].get("principal")
    if who is None:
        raise not_signed_in()
    return who


def _nested_dependencies(dependant: Dependant) -> Iterator[Any]:
    for dependency in dependant.dependencies:
        yield dependency.call
        yield from _nested_dependencies(dependency)


def openapi_request_body(model: type[BaseModel], required: bool = True) -> dict[str, Any]:
    """A body as the document tells of it."""
    schema = model.model_json_schema()
    return {"required": required, "content": {"application/json": {"schema": schema}}}


_Responses = dict[int | str, dict[str, Any]]
_Endpoint = TypeVar("_Endpoint", bound=Callable[..., Any])


class Router:
    """Routes under one heading: `@routes.get(path, summary, *errors, ok=schema)`."""

    def __init__(self, tag: str, route: type[Route] = Route) -> None:
        self._router = APIRouter(prefix="/api", tags=[tag], route_class=route)
        self.routes = self._router.routes
        self.get = partial(self._add, "GET")
        self.post = partial(self._add, "POST")
        self.put = partial(self._add, "PUT")
        self.patch = partial(self._add, "PATCH")
        self.delete = partial(self._add, "DELETE")

    def _add(
        self,
        method: str,
        path: str,
        summary: str,
        *errors: int,
        ok: Any = None,
        status: int = 200,
        says: str = "Done.",
        more: _Responses | None = None,
        **options: Any,
    ) -> Callable[[_Endpoint], _Endpoint]:
        """A route; `errors`, `ok` and `says` are what it answers with, `more` what these words cannot say."""
        responses = openapi_responses(*errors, ok=ok, status=status, says=says) | (more or {})
        return self._router.api_route(
            path, methods=[method], summary=summary, status_code=status, responses=responses, **options
        )


def openapi_responses(*more: int, ok: Any = None, status: int = 200, says: str = "Done.") -> _Responses:
    """Everything that a route may answer with."""
    responses: _Responses = {status: {"description": says}}
    if ok is not None:
        responses[status]["model"] = ok
    for code in (*_COMMON_STATUSES, *more):
        responses[code] = {"model": ErrorBody, "description": _STATUS_DESCRIPTIONS[code]}
    return responses
