"""What a door cannot carry, and why: the one place where a case is left out of a door."""

from __future__ import annotations

from tests.parity.cases import Need

_OBJECT = "arguments are an object on this wire, so text cannot be sent in their place"
_NO_KEY = "there is no way to name an effect; the protocol has none"
_NO_DIGEST = "there is no way to name the definition that was seen; the protocol has none"
_ITS_FORM = "JSON text is how its arguments always come, so that it is no repair"
_NO_WAY_BACK = "an answer is given once; what was decided later is asked for through another door"

LACKS: dict[str, dict[Need, str]] = {
    "cli": {
        "text": "--args that are no object are refused before there is a call",
        "key": "a command makes one call, and there is no option for a key",
        "digest": "the command reads the definition itself, right before it calls",
        "decide": "a command ends with its answer; a worker runs what is approved later",
        "bounds": "there are no keys at a terminal, hence no bounds of one",
    },
    "rest": {"text": _OBJECT},
    "rest stream": {"text": _OBJECT},
    "rest async": {
        "text": _OBJECT,
        "key": "its key names a submitted call: the same call answers again, and no duplicate of it",
    },
    "mcp": {"text": _OBJECT, "key": _NO_KEY, "digest": _NO_DIGEST},
    "mcp stdio": {
        "text": _OBJECT,
        "key": _NO_KEY,
        "digest": _NO_DIGEST,
        "bounds": "it acts for the person of the settings; bounds come with a key, in HANDRAIL_API_KEY",
    },
    "mcp 2025": {
        "text": _OBJECT,
        "key": _NO_KEY,
        "digest": _NO_DIGEST,
        "cancel": "a notice of cancellation reaches another request of a stateless server",
    },
    "openai chat": {"json text": _ITS_FORM, "digest": _NO_DIGEST, "decide": _NO_WAY_BACK},
    "openai responses": {"json text": _ITS_FORM, "digest": _NO_DIGEST, "decide": _NO_WAY_BACK},
    "anthropic": {"digest": _NO_DIGEST, "decide": _NO_WAY_BACK},
    "langchain invoke": {
        "text": _OBJECT,
        "key": _NO_KEY,
        "digest": _NO_DIGEST,
        "decide": _NO_WAY_BACK,
        "unlisted": "there is no tool object of what is not listed",
        "cancel": "whoever blocks in invoke cannot cancel",
    },
    "langchain ainvoke": {
        "text": _OBJECT,
        "key": _NO_KEY,
        "digest": _NO_DIGEST,
        "decide": _NO_WAY_BACK,
        "unlisted": "there is no tool object of what is not listed",
    },
    "langchain message": {"digest": _NO_DIGEST, "decide": _NO_WAY_BACK},
    "pydantic-ai": {
        "json text": _ITS_FORM,
        "key": _NO_KEY,
        "unlisted": "its agent answers for what is not listed, and calls nothing",
    },
}
"""By door, then by what a case would need."""
