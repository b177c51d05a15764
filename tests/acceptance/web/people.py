"""People at a served platform: made beside the server, as whoever runs it does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from handrail import Handrail
from handrail.core.define.principal import KeyKind
from handrail.identity.bootstrap import create_sign_in_link
from handrail.identity.permissions import console_principal
from handrail.identity.services import Services
from tests.acceptance.server_process import ServerProcess

T = TypeVar("T")
PASSWORD = "three calm blue herons"


def beside(folder: Path, act: Callable[[Services], Coroutine[Any, Any, T]]) -> T:
    """Do something with the offices of the database of a server that runs."""

    async def run() -> T:
        async with Handrail(database=f"sqlite:///{folder}/handrail.db", worker=False) as hr:
            assert isinstance(hr.services, Services)
            return await act(hr.services)

    with ThreadPoolExecutor(1) as threads:  # the browser's own loop runs in this one
        return threads.submit(asyncio.run, run()).result()


def add_person(folder: Path, email: str, *roles: str, tenant: str = "local", password: str = "") -> str:
    """Somebody with roles in a tenant, and a password; their id."""

    async def add(services: Services) -> str:
        if tenant not in [one.id for one in await services.people.tenants()]:
            await services.people.create_tenant(tenant, tenant.capitalize())
        user = await services.people.add_member(console_principal(tenant), email, roles)
        if password:
            await services.passwords.choose(await services.authenticator.sign_in(user.id, tenant), password)
        return user.id

    return beside(folder, add)


def link_of(served: ServerProcess, email: str, tenant: str = "local") -> str:
    """A link that lets somebody in, once."""

    async def make(services: Services) -> str:
        link = await create_sign_in_link(services, tenant, email)
        assert link is not None
        return link

    return f"{served.url}/sign-in?link={beside(served.folder, make)}"


def key_of(folder: Path, user: str, tenant: str = "local", *, agent: str | None = None) -> str:
    """A key of somebody: for an agent of theirs, or for a program."""

    async def make(services: Services) -> str:
        kind: KeyKind = "service" if agent is None else "agent"
        text, _ = await services.keys.make(
            console_principal(tenant), agent or "mine", kind, user=user, agent=agent, permissions=["*"]
        )
        return text.reveal()

    return beside(folder, make)
