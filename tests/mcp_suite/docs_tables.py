"""Writes the tables of docs/mcp-conformance.md: python -m tests.mcp_suite.docs_tables"""

from __future__ import annotations

from collections.abc import Iterator

from tests.mcp_suite.expectations import ABSENT, CHECKS, MEASURED, PASSES, REASONS, SIGNING, expected, why_not
from tests.mcp_suite.packages import HERE
from tests.mcp_suite.suite import SUITE_RUNS, SuiteRun, listed

PAGE = HERE.parents[1] / "docs" / "mcp-conformance.md"
Wanted = dict[SuiteRun, dict[str, object]]


def written(page: str) -> str:
    """The page with its tables as they ought to be."""
    for kind in ("server", "client"):
        wanted = {leg: expected(kind, leg, listed(leg, kind)) for leg in SUITE_RUNS}
        before, mark, rest = page.partition(f"<!-- {kind} -->\n")
        _, end, after = rest.partition("<!-- end -->\n")
        assert mark and end, f"the page has no place for the tables of the {kind}"
        tables = [*_totals(kind, wanted), "", *_scenarios(kind, wanted), "", *_reasons(kind, wanted), ""]
        page = "\n".join([before + mark, *tables, end + after])
    return page


def _totals(kind: str, wanted: Wanted) -> Iterator[str]:
    yield "| suite | revision | scenarios | pass | pass in part | do not apply | checks that succeed |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    for leg, verdicts in wanted.items():
        passed = sum(one == PASSES for one in verdicts.values())
        absent = sum(one == ABSENT for one in verdicts.values())
        part = len(verdicts) - passed - absent
        counts = (len(verdicts), passed, part, absent, MEASURED[kind][leg])
        yield f"| {leg.suite} | {leg.spec} | {' | '.join(map(str, counts))} |"


def _scenarios(kind: str, wanted: Wanted) -> Iterator[str]:
    yield f"| scenario | {' | '.join(map(str, SUITE_RUNS))} | why not |"
    yield f"|---|{':-:|' * len(SUITE_RUNS)}---|"
    for name in _names(wanted):
        cells = [_cell(verdicts.get(name)) for verdicts in wanted.values()]
        whys = dict.fromkeys(why for leg in SUITE_RUNS if (why := why_not(kind, leg, name)))
        parts = [f"{why}: `{check}`" for check, why in CHECKS[kind].get(name, {}).items()]
        yield f"| `{name}` | {' | '.join(cells)} | {'<br>'.join([*whys, *parts])} |"


def _names(wanted: Wanted) -> list[str]:
    return sorted(set().union(*wanted.values()), key=lambda name: (name.startswith(SIGNING), name))


def _cell(verdict: object) -> str:
    if verdict is None:
        return ""
    return "yes" if verdict == PASSES else "–" if verdict == ABSENT else "in part"


def _reasons(kind: str, wanted: Wanted) -> Iterator[str]:
    used = {why_not(kind, leg, name) for leg, verdicts in wanted.items() for name in verdicts}
    used |= {why for checks in CHECKS[kind].values() for why in checks.values()}
    yield from (f"- **{why}**: {text}" for why, text in REASONS.items() if why in used)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
