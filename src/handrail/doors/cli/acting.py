"""Acting: for whom a command calls. A person at the terminal, or an agent on that person's behalf."""

from __future__ import annotations

from dataclasses import dataclass

from handrail.core.define.permission import Source
from handrail.core.define.principal import Principal
from handrail.doors.cli.exits import Stop
from handrail.settings import Settings

NAMELESS = "agent"
"""What an agent is called that `--as agent` gives no name."""


def told_agent(name: str) -> str:
    """An agent, in a sentence."""
    return "the agent" if name == NAMELESS else f"agent {name}"


@dataclass(frozen=True, slots=True)
class Acting:
    """Who calls, and through which door."""

    principal: Principal
    source: Source
    person: str
    """Who sits at the terminal, and answers there."""

    @property
    def agent(self) -> str | None:
        return self.principal.agent

    @property
    def caller(self) -> str:
        """Who calls, in a sentence."""
        return "you" if self.agent is None else told_agent(self.agent)


def acting_as(given: str | None, settings: Settings) -> Acting:
    """Whoever `--as` names: nobody else than the person, `agent`, or `agent:NAME`."""
    person = Principal(
        tenant=settings.tenant,
        user=settings.user,
        roles=settings.roles,
        permissions=settings.permissions,
    )
    if given is None or given == "person":
        return Acting(person, "cli", settings.user)
    kind, _, name = given.partition(":")
    if kind != "agent" or (":" in given and not name):
        raise Stop(f"--as {given!r} is nobody", "give --as agent, --as agent:NAME, or leave it out")
    return Acting(person.spawn(name or NAMELESS), "agent", settings.user)
