"""Schemathesis over the whole document of REST, for one role: what is sent, and what no answer may be."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, note, seed, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.config import GenerationConfig, ProjectConfig, ProjectsConfig, SchemathesisConfig
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.generation.case import Case
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from handrail.platform.middleware import SESSION_COOKIE
from tests.contract.http_attacks.attacked_server import AttackedServer, inside_text

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
STREAM = "text/event-stream"
LONG = 0.05


def document(attacked: AttackedServer) -> dict[str, Any]:
    """The document, with ids that exist: those of the attacking tenant, and of the other one."""
    told: dict[str, Any] = copy.deepcopy(attacked.api.openapi())
    told.pop("security", None)
    for path in told["paths"].values():
        for operation in path.values():
            for one in operation.get("parameters", ()):
                if one["in"] == "path":
                    known = [*attacked.here.ids[one["name"]], *attacked.there.ids[one["name"]]]
                    known += ["echo.say", "echo.fail", "echo.send"] if one["name"] == "slug" else []
                    one["schema"] = {"enum": known}  # others come where schemathesis breaks the rules
    return told


def operations(attacked: AttackedServer) -> Iterator[APIOperation[Any, Any, Any, Any]]:
    """Everything that the document describes."""
    generation = GenerationConfig(with_security_parameters=False)
    config = SchemathesisConfig(projects=ProjectsConfig(default=ProjectConfig(generation=generation)))
    for found in schemathesis.openapi.from_dict(document(attacked), config=config).get_all_operations():
        assert isinstance(found, Ok), found
        yield found.ok()


class Attacker:
    """Somebody who sends what schemathesis makes up."""

    def __init__(self, attacked: AttackedServer, role: str) -> None:
        self._attacked = attacked
        self.role = role
        self._session = requests.Session()
        self._session.trust_env = False
        if role in attacked.here.cookies:
            self._session.headers["cookie"] = f"{SESSION_COOKIE}={attacked.here.cookies[role]}"
        elif role != "nobody":
            self._session.headers["authorization"] = f"Bearer {attacked.here.keys[role]}"
        self.seen: Counter[tuple[str, int]] = Counter()

    def send(self, case: Case, stream: bool) -> None:
        """One request, and all that is looked for in its answer."""
        sent = case.as_transport_kwargs(base_url=self._attacked.url)
        if stream:
            sent["headers"]["accept"] = STREAM
        _hurry(sent.get("params"))
        with self._session.request(**sent, stream=True, timeout=30, allow_redirects=False) as answer:
            if answer.headers.get("content-type", "").startswith(STREAM):
                answer._content = next(answer.iter_content(65_536), b"")
            _ = answer.content
        self.seen[case.operation.label, answer.status_code] += 1
        case.validate_response(answer, checks=CHECKS)
        self.check(answer)

    def check(self, answer: requests.Response) -> None:
        """Nothing of the other tenant, and nothing of how this is made."""
        told = answer.text + "".join(f"\n{name}: {value}" for name, value in answer.headers.items())
        assert self._attacked.there.mark not in told, told
        request = answer.request
        body = request.body.decode("latin-1") if isinstance(request.body, bytes) else request.body
        leak = inside_text(told, f"{request.url} {body} {request.headers}")
        assert leak is None, leak


def attack(
    attackers: list[Attacker], operation: APIOperation[Any, Any, Any, Any], examples: int, number: int
) -> None:
    """So many requests, each sent by everybody; the same ones for the same number."""
    cases = operation.as_strategy(GenerationMode.POSITIVE)
    if operation.path_parameters or operation.query or operation.headers or operation.body:
        cases |= operation.as_strategy(GenerationMode.NEGATIVE)

    @seed(number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(case=cases, stream=st.booleans())
    def sent(case: Case, stream: bool) -> None:
        for one in attackers:
            note(f"sent by {one.role}")
            one.send(case, stream)

    sent()


def _hurry(query: Any) -> None:
    """Nobody waits here for calls that wait for a person."""
    try:
        if query and LONG < float(query["wait"]) <= 60:
            query["wait"] = LONG
    except (KeyError, TypeError, ValueError):
        return
