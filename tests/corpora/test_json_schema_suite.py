"""Every schema of the JSON Schema Test Suite as a parameter of a tool, every value as a call of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from handrail import Handrail, Outcome, Tool, from_json_schema
from handrail.core.errors import DefinitionError
from tests.corpora.corpus import corpus
from tests.corpora.json_schema_suite import Case, Group, Suite

Judged = tuple[Case, str | None]
"""A case, and what is wrong with the call it made."""

SUITE = Suite(corpus("json_schema_test_suite"))

NOT_PASSING: Mapping[str, str] = {
    "optional/format-assertion.json#/0/tests/1": "a metaschema does not switch formats on; formats=True does",
    "optional/format-assertion.json#/1/tests/1": "a metaschema does not switch formats on; formats=True does",
}
"""Cases that end otherwise than the suite asks, and why. One that passes must leave this list."""

DEFAULT_FILLED: Mapping[str, str] = {
    "default.json#/0/tests/1": "the property left out has a default, which the body receives (IV-03)",
    "default.json#/1/tests/1": "the property left out has a default, which the body receives (IV-03)",
    "default.json#/2/tests/2": "the property left out has a default, which the body receives (IV-03)",
}
"""Valid cases whose body receives more than was sent, and why. The suite itself only asks that they pass."""


@pytest.mark.req("SC-10", "TD-07")
def test_the_suite_is_whole_and_no_required_case_is_excused() -> None:
    required, optional, formats = (SUITE.cases(kind) for kind in ("required", "optional", "format"))

    assert (len(required), len(optional), len(formats)) == (1299, 162, 764)
    assert NOT_PASSING.keys() <= {case.name for case in (*optional, *formats)}
    assert DEFAULT_FILLED.keys() <= {case.name for case in required if case.valid}


@pytest.mark.req("SC-10", "TD-07")
@pytest.mark.parametrize("file", [*SUITE.files("required"), *SUITE.files("optional")])
async def test_a_call_is_completed_or_refused_as_the_suite_says(file: str) -> None:
    _compare(file, await _judge(file))


@pytest.mark.req("SC-10", "TD-07")
@pytest.mark.parametrize("file", SUITE.files("format"))
async def test_formats_are_checked_when_the_tool_asks_for_it(file: str) -> None:
    _compare(file, await _judge(file, formats=True))


@pytest.mark.req("SC-10", "TD-07")
@pytest.mark.parametrize("file", SUITE.files("required"))
async def test_repair_changes_no_valid_value(file: str) -> None:
    judged = await _judge(file, repair=True)

    _compare(file, [(case, trouble) for case, trouble in judged if case.valid])


async def _judge(file: str, *, repair: bool = False, formats: bool = False) -> list[Judged]:
    """Call a tool with every value of a file."""
    judged: list[Judged] = []
    for group in SUITE.groups(file):
        received: list[str] = []
        try:
            keep = _tool(group, received, formats)
        except DefinitionError as error:
            judged += [(case, f"has a schema that was not taken: {error.problem}") for case in group.cases]
            continue
        async with Handrail(tools=[keep], repair=repair) as hr:
            for case in group.cases:
                judged.append((case, await _trouble(hr, case, received)))
                received.clear()
    return judged


def _tool(group: Group, received: list[str], formats: bool) -> Tool:
    """A tool with the schema as its one parameter, which has an id so that `#` still means the schema."""
    schema = group.schema
    if isinstance(schema, dict):
        schema = {"$id": "urn:handrail:suite", **schema}

    async def keep(args: Mapping[str, Any]) -> None:
        received.append(_spelt(args))

    made: Tool = from_json_schema(
        "suite.keep",
        {"type": "object", "properties": {"value": schema}, "required": ["value"]},
        keep,
        description="Keep one value.",
        level="read",
        resources=SUITE.remotes,
        formats=formats,
    )
    return made


def _spelt(args: Mapping[str, Any]) -> str:
    """JSON text, so that 1, 1.0 and true differ, and so does another order."""
    return json.dumps(args)


async def _trouble(hr: Handrail, case: Case, received: list[str]) -> str | None:
    """What is wrong with the call that a case makes, if anything."""
    args = {"value": case.data}
    sent = _spelt(args)
    out = await hr.call("suite.keep", args)
    if _spelt(args) != sent:
        return f"sent {sent}, but the caller's own data became {_spelt(args)}"
    if case.valid:
        return _trouble_if_valid(case, sent, out, received)
    if (out.status, out.code) != ("refused", "INVALID_PARAM"):
        return f"is invalid, but was {out.status} ({out.code})"
    return "is invalid, but its body ran" if received else None


def _trouble_if_valid(case: Case, sent: str, out: Outcome, received: list[str]) -> str | None:
    if out.status != "completed":
        return f"is valid, but was {out.status} ({out.code}): {out.result.error}"
    if out.repairs:
        return f"is valid, but was repaired: {'; '.join(map(str, out.repairs))}"
    if len(received) != 1:
        return f"is one call, but its body ran {len(received)} times"
    [got] = received
    if case.name in DEFAULT_FILLED:
        if got == sent:
            return "is listed in DEFAULT_FILLED, but its body received what was sent; take it off"
        got = _spelt(_without_more(json.loads(got), json.loads(sent)))
    return None if got == sent else f"sent {sent}, but its body received {got}"


def _without_more(received: Any, sent: Any) -> Any:
    """What was received, without the properties that nobody sent."""
    if not isinstance(received, dict) or not isinstance(sent, dict):
        return received
    return {name: _without_more(value, sent[name]) for name, value in received.items() if name in sent}


def _compare(file: str, judged: list[Judged]) -> None:
    """Fail with every case that differs from the suite unlisted, and every listed one that does not."""
    wrong = [
        f"{case.name} ({case.title}) {trouble}"
        for case, trouble in judged
        if trouble is not None and case.name not in NOT_PASSING
    ]
    wrong += [
        f"{case.name} ({case.title}) is listed in NOT_PASSING, but passes; take it off"
        for case, trouble in judged
        if trouble is None and case.name in NOT_PASSING
    ]
    assert not wrong, f"{len(wrong)} of the {len(judged)} cases of {file}:\n" + "\n".join(wrong)
