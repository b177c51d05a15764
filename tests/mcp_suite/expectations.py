"""Which scenarios of the suite apply to Handrail, and why the others do not."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from tests.mcp_suite.scores import Score
from tests.mcp_suite.suite import SUITE_RUNS, SuiteRun

TOOLS_ONLY = "tools only"
NO_LOGGING = "no messages"
NO_MODEL = "no borrowed model"
NO_QUESTIONS = "no questions"
NO_SESSIONS = "no sessions"
NO_ANSWERS = "no answers"
NO_OAUTH = "no signing in"

REASONS: Mapping[str, str] = {
    TOOLS_ONLY: "Handrail serves tools. It declares neither resources nor prompts, and has none.",
    NO_LOGGING: (
        "Messages to the client's log are on their way out of the protocol. What a call does stands in the "
        "event log."
    ),
    NO_MODEL: "A tool's body uses neither the caller's model nor the caller's folders.",
    NO_QUESTIONS: (
        "A tool's body asks its caller nothing. What a person must decide is asked in the inbox, where the "
        "caller cannot approve it. Meanwhile the caller is told to come back, with nothing to fill in."
    ),
    NO_SESSIONS: (
        "The server keeps no state of a client, so that any process answers. There is no session to end and "
        "no stream to resume: the outcome is collected by calling again."
    ),
    NO_ANSWERS: (
        "What a foreign server wants to ask of a person or a model is declined: a tool gets its arguments "
        "from the call that was approved, and nothing else."
    ),
    NO_OAUTH: (
        "A foreign server is shown a secret that its tenant or user keeps here, as a bearer token. Handrail "
        "signs in nowhere for anybody."
    ),
}

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
    "server-sse-polling": NO_SESSIONS,
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

CLIENT: Mapping[str, str] = {"elicitation-sep1034-client-defaults": NO_ANSWERS}
"""Scenarios of clients that do not apply, and why; beside them all whose name begins with `auth/`."""

CLIENT_CHECKS: Mapping[str, Mapping[str, str]] = {
    "sep-2322-client-request-state": {
        "sep-2322-client-request-state-echoed": NO_ANSWERS,
        "sep-2322-client-jsonrpc-id-different": NO_ANSWERS,
        "sep-2322-client-no-state-omitted": NO_ANSWERS,
    }
}

MEASURED: Mapping[str, Mapping[SuiteRun, int]] = {
    "server": dict(zip(SUITE_RUNS, (16, 10, 20, 62), strict=True)),
    "client": dict(zip(SUITE_RUNS, (5, 2, 13, 28), strict=True)),
}
"""How many checks succeed in a run of all scenarios but `auth/`."""

CHECKS = {"server": SERVER_CHECKS, "client": CLIENT_CHECKS}
SIGNING = "auth/"
PASSES = "passes"
ABSENT = "does not apply"


def expected(kind: str, leg: SuiteRun, scenarios: AbstractSet[str]) -> dict[str, object]:
    """How each scenario ought to end: it passes, it does not apply, or these checks of it do not."""
    checks = CHECKS[kind]
    return {
        name: ABSENT if why_not(kind, leg, name) else sorted(checks[name]) if name in checks else PASSES
        for name in scenarios
    }


def why_not(kind: str, leg: SuiteRun, scenario: str) -> str | None:
    """Why a scenario does not apply; None when it does."""
    if kind == "client":
        return NO_OAUTH if scenario.startswith(SIGNING) else CLIENT.get(scenario)
    before = SERVER_BEFORE if leg.spec < "2026" else {}
    return SERVER.get(scenario) or before.get(scenario)


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
