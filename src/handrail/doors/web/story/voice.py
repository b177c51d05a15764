"""Voice: how people, agents and ways in are called, for whoever reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from handrail.doors.web.story.texts import short

THROUGH = {
    "web": "web page",
    "api": "REST",
    "mcp": "MCP",
    "cli": "command line",
    "job": "job",
    "agent": "agent",
}
"""Through what a call came, as a word of its own."""
_BY = {
    "web": "on the web page",
    "api": "through REST",
    "mcp": "through MCP",
    "cli": "on the command line",
    "job": "as a job",
    "agent": "from an agent loop",
}
_NAME = 60


@dataclass(frozen=True, slots=True)
class Voice:
    """Who reads, and what people are called."""

    me: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    """What people are called, by id."""
    deciders: Mapping[str, str] = field(default_factory=dict)
    """Whose word ended a question, by the question's id, as far as the reader may know."""

    def person(self, user: str | None) -> str:
        if user is None:
            return "somebody"
        return "you" if user == self.me else short(self.names.get(user, user), _NAME)

    def caller(self, user: str | None, agent: str | None) -> str:
        """Whoever made a call: `you`, `Ana`, `agent "ops" for Ana`."""
        if agent is not None:
            named = f"agent “{short(agent, _NAME)}”"
            return named if user is None else f"{named} for {self.person(user)}"
        return "a key" if user is None else self.person(user)

    def through(self, source: str) -> str:
        """The way in, within a sentence."""
        return _BY.get(source) or f"through {short(source, _NAME)}"


def source_word(source: str) -> str:
    return THROUGH.get(source) or short(source, _NAME)
