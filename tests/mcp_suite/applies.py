"""Which scenarios of the suite apply to Handrail, and why the others do not."""

from __future__ import annotations

from collections.abc import Mapping

from tests.mcp_suite.scoring import Score
from tests.mcp_suite.suite import Leg

TOOLS_ONLY = "Handrail serves tools. It declares neither resources nor prompts, and answers that it has none."
NO_LOGGING = (
    "Messages to the client's log are left out: the current protocol has dropped them, and what a call does "
    "stands in the event log."
)
NO_MODEL = "A tool's body never uses the caller's model or folders; the current protocol has dropped both."
NO_QUESTIONS = (
    "A tool's body asks its caller nothing. What needs a decision is asked in the inbox, where whoever calls "
    "cannot approve it."
)
NO_SESSIONS = "The server keeps no state of a client, so that any replica answers: there are no sessions."
NO_RESUMING = "Without sessions there is no stream to come back to; the outcome is fetched by calling again."

SERVER: Mapping[str, str] = {
    "completion-complete": TOOLS_ONLY,
    "resources-list": TOOLS_ONLY,
    "resources-read-text": TOOLS_ONLY,
    "resources-read-binary": TOOLS_ONLY,
    "resources-templates-read": TOOLS_ONLY,
    "resources-subscribe": TOOLS_ONLY,
    "resources-unsubscribe": TOOLS_ONLY,
    "sep-2164-resource-not-found": TOOLS_ONLY,
    "prompts-list": TOOLS_ONLY,
    "prompts-get-simple": TOOLS_ONLY,
    "prompts-get-with-args": TOOLS_ONLY,
    "prompts-get-embedded-resource": TOOLS_ONLY,
    "prompts-get-with-image": TOOLS_ONLY,
    "input-required-result-non-tool-request": TOOLS_ONLY,
    "logging-set-level": NO_LOGGING,
    "tools-call-with-logging": NO_LOGGING,
    "tools-call-sampling": NO_MODEL,
    "input-required-result-basic-sampling": NO_MODEL,
    "input-required-result-basic-list-roots": NO_MODEL,
    "input-required-result-multiple-input-requests": NO_MODEL,
    "tools-call-elicitation": NO_QUESTIONS,
    "elicitation-sep1034-defaults": NO_QUESTIONS,
    "elicitation-sep1330-enums": NO_QUESTIONS,
    "input-required-result-basic-elicitation": NO_QUESTIONS,
    "input-required-result-request-state": NO_QUESTIONS,
    "input-required-result-multi-round": NO_QUESTIONS,
    "input-required-result-ignore-extra-params": NO_QUESTIONS,
    "input-required-result-tampered-state": NO_QUESTIONS,
    "input-required-result-capability-check": NO_QUESTIONS,
    "server-session-lifecycle": NO_SESSIONS,
    "server-sse-polling": NO_RESUMING,
}
"""Scenarios of servers that do not apply, and why."""

SERVER_BEFORE: Mapping[str, str] = {"server-sse-multiple-streams": NO_SESSIONS}
"""The same, for revisions before 2026-07-28 alone."""

SERVER_CHECKS: Mapping[str, Mapping[str, str]] = {
    "caching": {
        "sep-2549-prompts-list-caching-hints": TOOLS_ONLY,
        "sep-2549-resources-list-caching-hints": TOOLS_ONLY,
        "sep-2549-resources-templates-list-caching-hints": TOOLS_ONLY,
    },
    "server-stateless": {
        "sep-2575-server-rejects-undeclared-capability": NO_MODEL,
        "sep-2575-missing-capability-http-400": NO_MODEL,
    },
}
"""Single checks that do not apply, of scenarios that do."""

CLIENT: Mapping[str, str] = {}
CLIENT_CHECKS: Mapping[str, Mapping[str, str]] = {}

PASSES = "passes"
ABSENT = "does not apply"


def expected(kind: str, leg: Leg, scenarios: set[str]) -> dict[str, object]:
    """How each scenario ought to end: it passes, it does not apply, or these checks of it do not."""
    absent = {**SERVER, **(SERVER_BEFORE if leg.spec < "2026" else {})} if kind == "server" else CLIENT
    checks = SERVER_CHECKS if kind == "server" else CLIENT_CHECKS
    return {
        name: ABSENT if name in absent else sorted(checks[name]) if name in checks else PASSES
        for name in scenarios
    }


def verdicts(wanted: Mapping[str, object], found: Mapping[str, Score]) -> dict[str, object]:
    """How each scenario ended, in the words of `expected`; instead of them, what is wrong."""
    told: dict[str, object] = {}
    for name, one in found.items():
        if one.passed:
            told[name] = PASSES
        elif wanted.get(name) == ABSENT:
            told[name] = ABSENT
        elif one.good and wanted.get(name) == sorted(one.bad):
            told[name] = sorted(one.bad)
        else:
            told[name] = dict(one.bad) or "nothing was seen"
    return told
