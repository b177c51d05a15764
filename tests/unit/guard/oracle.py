"""What the specification says a decision must be, read off its own tables.

Nothing here calls the guard. `TABLE` is the table of requirement group 7 as it is printed there; what the
sentences around it say stands below as data.
"""

from __future__ import annotations

from typing import Any, NamedTuple

TABLE = """\
| level | danger | automation, `strict` | automation, `policy` | automation, `danger` | person |
|---|---|---|---|---|---|
| read, draft | safe | allow | allow | allow | allow |
| read, draft | moderate | allow | allow | ask (setting) | allow |
| write | safe | ask | allow | allow | allow |
| write | moderate | ask | allow | ask (setting) | allow |
| any | dangerous | ask | ask | ask | confirm |
| destructive | any | ask | ask | ask | confirm |
| any, `always_ask` | any | ask | ask | ask | as its level |
"""

AUTOMATION = {("agent", None), ("mcp", None), ("job", None), ("api", "agent")}
PERSON = {("web", None), ("cli", None), ("api", "person"), ("api", "service")}
CANNOT_CONFIRM = {("api", "service")}

REFUSING = (
    ("allow/deny", "lists", {"not allowed": "allow", "denied": "deny", "both": "deny"}),
    ("permission", "permission", {"missing": None}),
    ("capability", "capability", {"missing": None}),
)
"""The earlier layers in their order: which case refuses, and the rule it names."""

QUEUED = {
    False: (),
    True: ("draft", "write", "destructive"),
    "all": ("read", "draft", "write", "destructive"),
}
"""Plan mode: which levels it queues, unless they are refused."""

STANDING = {"levels": ("write",), "dangers": ("safe", "moderate"), "policies": ("auto",)}
"""Where a standing approval can turn ask into allow."""

CODES = {"allow": None, "ask": "NEEDS_APPROVAL", "queue": "PLANNED", "deny": "NOT_PERMITTED"}
STRICTER = ("allow", "confirm", "ask")


class Case(NamedTuple):
    """One combination of everything that has a say."""

    level: str = "read"
    danger: str = "safe"
    policy: str = "auto"
    mode: str = "strict"
    moderate: str = "ask"
    source: str = "agent"
    key: str | None = None
    lists: str = "none"
    permission: str = "none required"
    capability: str = "granted"
    plan: Any = False


class Expected(NamedTuple):
    verdict: str
    code: str | None
    layer: str | None
    """The layer that decides, where the tables name it."""
    rule: str | None
    by: str | None
    standing: bool


def expected(case: Case) -> Expected:
    """The decision on a case."""
    for layer, axis, refusals in REFUSING:
        chosen = getattr(case, axis)
        if chosen in refusals:
            return Expected("deny", CODES["deny"], layer, refusals[chosen], None, False)
    if case.level in QUEUED[case.plan]:
        return Expected("queue", CODES["queue"], "plan", None, None, False)
    word = table_word(case)
    if word == "allow":
        return Expected("allow", None, None, None, None, False)
    by = "caller" if word == "confirm" and (case.source, case.key) not in CANNOT_CONFIRM else "reviewer"
    stands = (
        case.level in STANDING["levels"]
        and case.danger in STANDING["dangers"]
        and case.policy in STANDING["policies"]
    )
    return Expected("ask", CODES["ask"], None, None, by, stands)


def table_word(case: Case) -> str:
    """The strictest word of the rows of the table that speak of a case."""
    return max(_words(case), key=STRICTER.index)


def _words(case: Case) -> list[str]:
    kind = "person" if (case.source, case.key) in PERSON else f"automation, `{case.mode}`"
    assert ((case.source, case.key) in AUTOMATION) != (kind == "person")
    heading, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in TABLE.splitlines())
    said = [
        row[heading.index(kind)]
        for row in rows
        if _speaks_of_level(row[0], case) and row[1] in ("any", case.danger)
    ]
    words = {"ask (setting)": case.moderate, "as its level": "allow"}
    return [words.get(word, word) for word in said]


def _speaks_of_level(cell: str, case: Case) -> bool:
    if cell == "any, `always_ask`":
        return case.policy == "always_ask"
    return cell == "any" or case.level in cell.split(", ")
