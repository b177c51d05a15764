"""With the filter of the application taken away behind every route, PostgreSQL keeps the tenants apart."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg
import pytest
from sqlalchemy import event

from handrail import Principal
from handrail.platform import FixedKeys
from handrail.store.grants import grant_roles
from tests.contract.http_attacks.attacked_server import HERE, NO_TLS, THERE, AttackedServer, attacked_server
from tests.contract.http_attacks.routes import ways

EVE = FixedKeys({"eve": Principal(HERE, "eve", permissions=["*"], key="person")})


@contextmanager
def misled(attacked: AttackedServer) -> Iterator[list[str]]:
    """While inside, every statement of the attacking tenant asks for the rows of the other one."""
    assert attacked.platform.services is not None
    engine, bent = attacked.platform.services.db.engine, list[str]()

    def bend(conn: Any, cursor: Any, statement: str, parameters: Any, *rest: Any) -> tuple[str, Any]:
        if "set_config" in statement or not parameters:
            return statement, parameters
        if isinstance(parameters, dict):
            changed: Any = {name: _bent(value) for name, value in parameters.items()}
        else:
            changed = type(parameters)(_bent(value) for value in parameters)
        if changed != parameters:
            bent.append(statement)
        return statement, changed

    event.listen(engine, "before_cursor_execute", bend, retval=True)
    try:
        yield bent
    finally:
        event.remove(engine, "before_cursor_execute", bend)


def _bent(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_bent, value))
    return THERE if value == HERE else value


def leaking(attacked: AttackedServer) -> set[str]:
    """The routes that show something of the other tenant to whoever reads them all."""
    found = set()
    headers = {"authorization": "Bearer eve", "host": "127.0.0.1"}
    with httpx.Client(base_url=attacked.url, headers=headers, timeout=20, verify=NO_TLS) as client:
        for way in ways(attacked):
            if way.method != "GET":
                continue
            (at,) = way.places or [""]
            for given in [{at: one} for one in attacked.there.ids[at]] if at else [{}]:
                answer = way.go(client, given)
                assert answer.status_code < 500, (way.name, answer.text)
                if attacked.there.mark in answer.text or attacked.there.label in answer.text:
                    found.add(way.name)
    return found


@pytest.mark.req("MT-05")
@pytest.mark.fault("F26")
def test_no_route_shows_anything_of_another_tenant_though_it_asks_for_it(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as owner:
        owner.execute("DO $$ BEGIN CREATE ROLE web LOGIN; EXCEPTION WHEN OTHERS THEN NULL; END $$")
    grant_roles(postgres_url, "web")
    with (
        attacked_server(postgres_url.replace("postgres@", "web@"), who=EVE) as attacked,
        misled(attacked) as bent,
    ):
        assert leaking(attacked) == set()
        assert len(bent) > 20


@pytest.mark.fault("F26")
def test_where_nothing_else_keeps_them_apart_it_would_be_seen(sqlite_url: str) -> None:
    """What the test above looks for is there to be found: SQLite has nothing but the filter."""
    with attacked_server(sqlite_url, who=EVE) as attacked:
        assert leaking(attacked) == set()
        with misled(attacked):
            seen = leaking(attacked)
    assert seen >= {
        "GET /api/approvals",
        "GET /api/approvals/{approval_id}",
        "GET /api/calls/{call_id}",
        "GET /api/dead-letters",
        "GET /api/events",
        "GET /api/keys",
        "GET /api/members",
        "GET /api/roles",
        "GET /api/runs/{run_id}",
        "GET /api/sessions/{session}/events",
    }
