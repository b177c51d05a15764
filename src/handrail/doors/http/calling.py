"""POST /api/tools/{slug}/call: one call, answered when it is over, or at once if that is preferred.

This is the way that is gone most often, so nothing is resolved for it that it does not need.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from handrail.core.define.permission import Source
from handrail.core.define.principal import Principal
from handrail.doors.http import shapes
from handrail.doors.http.ending import answer
from handrail.doors.http.reading import read_json, read_model, whole_body
from handrail.doors.http.refusing import invalid
from handrail.doors.http.routing import Quick, answers, need, request_body, router, signed_in, source_of
from handrail.platform import Platform

routes = router("calls", Quick)
_LONGEST = 255


class Wish(BaseModel):
    """A call: with what, where it belongs, and which definition the caller saw."""

    model_config = ConfigDict(extra="forbid", strict=True)

    arguments: dict[str, Any] | None = Field(default=None, description="By the tool's input schema.")
    session: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Events go there; without one it gets its own.",
    )
    digest: str | None = Field(
        default=None, max_length=200, description="Of the definition you saw; another one now refuses."
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks for."""

    who: Principal
    source: Source
    tool: str
    arguments: dict[str, Any]
    session: str | None
    digest: str | None
    key: str | None
    prefer: str

    @property
    def options(self) -> dict[str, Any]:
        """Everything but the tool and its arguments, as the engine takes it."""
        return {
            "principal": self.who,
            "source": self.source,
            "session": self.session,
            "idempotency_key": self.key,
            "digest": self.digest,
        }


SLUG = {
    "name": "slug",
    "in": "path",
    "required": True,
    "schema": {"type": "string"},
    "description": "The tool: its slug, id or an alias.",
}
KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": _LONGEST},
    "description": "Your own name for this effect: under one key it happens once.",
}
_PREFER = {
    "name": "Prefer",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "`respond-async`: answer at once with where to ask for the outcome.",
}
WAITING = {
    "model": shapes.Told,
    "description": "It waits: for a person, in a plan, or to be run. `Location` says where to look.",
    "headers": {"Location": {"schema": {"type": "string"}}},
}


@routes.post(
    "/tools/{slug}/call",
    summary="Call a tool",
    dependencies=[need()],
    openapi_extra={"parameters": [SLUG, KEY, _PREFER], "requestBody": request_body(Wish, required=False)},
    responses=answers(409, 415, 499, ok=shapes.Told, says="It is over; `success` says how.") | {202: WAITING},
)
async def call_tool(request: Request) -> Response:
    """Runs a tool through the guard. What a body did wrong is told with 200 and `success: false`."""
    asked = await read_call(request)
    platform: Platform = request.scope["app"].state.platform
    if asked.prefer and _wants_async(asked.prefer):
        outcome = await platform.hr.submit(asked.tool, asked.arguments, **asked.options)
        told = answer(outcome, asked.key is not None)
        if outcome.code == "SUBMITTED":
            told.headers["preference-applied"] = "respond-async"
        return told
    outcome = await platform.hr.call(asked.tool, asked.arguments, **asked.options)
    return answer(outcome, asked.key is not None)


async def read_call(request: Request) -> Asked:
    """What a request asks for, or what is wrong with it."""
    who = signed_in(request)
    scope = request.scope
    kind = key = prefer = ""
    for name, value in scope["headers"]:
        if name == b"content-type":
            kind = value.decode("latin-1")
        elif name == b"idempotency-key":
            key = value.decode("latin-1") or " "
        elif name == b"prefer":
            prefer = f"{prefer},{value.decode('latin-1')}"
    if key and (len(key) > _LONGEST or not key.isascii() or not key.isprintable() or not key.strip()):
        raise invalid("Idempotency-Key", f"is 1 to {_LONGEST} printable ASCII characters")
    body = await whole_body(request.receive)
    told = read_json(body, kind) if body else {}
    arguments, session, digest = _parts(told)
    return Asked(
        who, source_of(request), scope["path_params"]["slug"], arguments, session, digest, key or None, prefer
    )


def _parts(told: Any) -> tuple[dict[str, Any], str | None, str | None]:
    """The usual body is taken as it is; for any other, the model says what is wrong."""
    if type(told) is dict and len(told) == 1 and type(arguments := told.get("arguments")) is dict:
        return arguments, None, None
    wish = read_model(Wish, told)
    if wish.session is not None and not wish.session.isprintable():
        raise invalid("session", "is a name in printable characters")
    return wish.arguments or {}, wish.session, wish.digest


def _wants_async(prefer: str) -> bool:
    return any(one.partition(";")[0].strip().lower() == "respond-async" for one in prefer.split(","))
