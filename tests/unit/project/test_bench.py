"""`make bench` judges what it measures: what fails a run, and what its last lines say."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks import report
from benchmarks.environments import OWN, Peers
from benchmarks.measured_processes import Source, time_together
from benchmarks.row import Budget, Ratio, Row, at_least, at_most
from benchmarks.rows import ALL, RowModule
from benchmarks.run import main
from benchmarks.timing import Effort, Measured, NotMeasured, Timing

SECOND = Timing.fixed(1.0)
MISSING = NotMeasured("there is no environment of fastmcp")
PLANNED = "another queue is planned"


@dataclass
class Measurement:
    """Rows that need no time to be measured."""

    TITLE: str
    rows: Sequence[Row]

    def measure(self, peers: Peers, effort: Effort) -> list[Row]:
        return list(self.rows)


@dataclass
class BrokenMeasurement:
    """A module whose measurement does not come to an end."""

    TITLE: str = "Pages"

    def measure(self, peers: Peers, effort: Effort) -> list[Row]:
        raise RuntimeError("the server did not start")


def row(
    seconds: float,
    budget: Budget | None = None,
    *,
    subject: str = "our call",
    peer: Measured = SECOND,
    known_miss: str = "",
) -> Row:
    """A row whose ratio to its peer is this number of seconds."""
    time = Timing.fixed(seconds)
    return Row(subject, time, Ratio(time, peer, "{:.2f} times its peer"), budget, known_miss)


def bench(folder: Path, modules: dict[str, RowModule], *arguments: str) -> int:
    return main(["--peers", str(folder / "peers"), *arguments], modules, folder / "results")


def last_lines(capsys: pytest.CaptureFixture[str], number: int) -> list[str]:
    return capsys.readouterr().out.splitlines()[-number:]


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (row(1.0, at_most(1.0)), "reached"),
        (row(1.01, at_most(1.0)), "missed"),
        (row(2.0, at_least(2.0)), "reached"),
        (row(1.99, at_least(2.0)), "missed"),
        (row(5.0), None),
        (Row("a time alone", SECOND), None),
        (Row("a peer", MISSING), "not measured"),
        (row(1.0, peer=MISSING), "not measured"),
        (row(1.0, at_most(9.0), peer=MISSING), "not measured"),
        (row(9.0, at_most(1.0), known_miss=PLANNED), "known miss"),
        (row(1.0, at_most(1.0), known_miss=PLANNED), "reached unexpectedly"),
        (row(1.0, at_most(1.0), peer=MISSING, known_miss=PLANNED), "not measured"),
    ],
)
def test_a_row_is_judged_by_its_ratio(row: Row, verdict: str | None) -> None:
    assert row.verdict == verdict


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (row(1.0, at_most(2.0)), 0),
        (row(5.0), 0),
        (row(3.0, at_most(2.0)), 1),
        (row(1.0, at_most(2.0), peer=MISSING), 1),
        (row(1.0, peer=MISSING), 1),
        (Row("a peer that has no budget", MISSING), 1),
        (row(3.0, at_most(2.0), known_miss=PLANNED), 0),
        (row(1.0, at_most(2.0), known_miss=PLANNED), 1),
    ],
)
def test_the_exit_code_tells_whether_every_row_is_as_it_should_be(
    row: Row, code: int, tmp_path: Path
) -> None:
    assert bench(tmp_path, {"calls": Measurement("Calls", [row])}) == code


def test_one_failure_among_many_rows_fails_the_run(tmp_path: Path) -> None:
    rows = [row(1.0, at_most(2.0)), row(3.0, at_most(2.0)), row(1.0, at_most(2.0))]

    assert bench(tmp_path, {"calls": Measurement("Calls", rows)}) == 1


def test_a_missed_row_is_named_in_the_last_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench(tmp_path, {"calls": Measurement("Calls", [row(1.0, at_most(2.0)), row(3.0, at_most(2.0))])})

    assert last_lines(capsys, 3) == [
        "Missed:",
        "  Calls: our call: 3.00 times its peer (budget ≤ 2)",
        "bench: FAILED: 1 reached, 1 missed",
    ]


def test_a_row_without_its_peer_is_named_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row(1.0, at_most(2.0), peer=MISSING), Row("FastMCP", MISSING)]
    bench(tmp_path, {"calls": Measurement("Calls", rows)})

    assert last_lines(capsys, 4) == [
        "Not measured:",
        "  Calls: our call: there is no environment of fastmcp",
        "  Calls: FastMCP: there is no environment of fastmcp",
        "bench: FAILED: 2 not measured",
    ]


def test_a_known_miss_is_printed_as_such_and_fails_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row(1.0, at_most(2.0)), row(9.0, at_most(1.0), subject="100 jobs", known_miss=PLANNED)]
    code = bench(tmp_path, {"jobs": Measurement("Jobs", rows)})

    assert code == 0
    assert last_lines(capsys, 3) == [
        "Known misses, which do not fail the run:",
        "  Jobs: 100 jobs: 9.00 times its peer (budget ≤ 1): another queue is planned",
        "bench: passed: 1 reached, 1 known miss",
    ]


def test_a_known_miss_that_reaches_its_budget_has_to_lose_its_mark(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row(1.0, at_most(1.0), subject="100 jobs", known_miss=PLANNED)]
    code = bench(tmp_path, {"jobs": Measurement("Jobs", rows)})

    assert code == 1
    assert last_lines(capsys, 3) == [
        "Known misses that reached their budget; remove the mark `known_miss`:",
        "  Jobs: 100 jobs: 1.00 times its peer (budget ≤ 1): another queue is planned",
        "bench: FAILED: 1 reached unexpectedly",
    ]


def test_a_module_that_breaks_is_a_row_not_measured_and_the_others_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    modules: dict[str, RowModule] = {
        "pages": BrokenMeasurement(),
        "calls": Measurement("Calls", [row(1.0, at_most(2.0))]),
    }
    code = bench(tmp_path, modules)

    assert code == 1
    assert last_lines(capsys, 3) == [
        "Not measured:",
        "  Pages: pages: RuntimeError: the server did not start",
        "bench: FAILED: 1 reached, 1 not measured",
    ]


def test_a_partial_run_judges_only_its_rows(tmp_path: Path) -> None:
    modules: dict[str, RowModule] = {
        "calls": Measurement("Calls", [row(1.0, at_most(2.0))]),
        "pages": Measurement("Pages", [row(9.0, at_most(2.0))]),
    }

    assert bench(tmp_path, modules, "--only", "calls") == 0
    assert bench(tmp_path, modules, "--only", "pages") == 1
    assert bench(tmp_path, modules) == 1


def test_json_goes_to_standard_output_and_the_judgement_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row(9.0, at_most(1.0), known_miss=PLANNED)]
    bench(tmp_path, {"jobs": Measurement("Jobs", rows)}, "--json")

    printed = capsys.readouterr()
    (plain,) = json.loads(printed.out)["sections"][0]["rows"]
    assert (plain["verdict"], plain["known_miss"]) == ("known miss", PLANNED)
    assert printed.err.endswith("bench: passed: 1 known miss\n")


def test_the_figures_are_kept_as_a_file(tmp_path: Path) -> None:
    bench(tmp_path, {"calls": Measurement("Calls", [row(3.0, at_most(2.0))])})

    (path,) = (tmp_path / "results").iterdir()
    assert json.loads(path.read_text())["sections"][0]["rows"][0]["verdict"] == "missed"


def test_failures_stand_out_in_the_table() -> None:
    text = report.table({"Calls": [row(3.0, at_most(2.0)), row(1.0, at_most(2.0))]})

    assert [line.split()[-1] for line in text.splitlines()[2:]] == ["MISSED", "reached"]


@pytest.mark.parametrize(
    ("budget", "known_miss"),
    [(at_most(1.0), ""), (None, PLANNED)],
    ids=["a budget without a ratio", "a known miss without a budget"],
)
def test_a_row_that_could_never_be_judged_is_refused(budget: Budget | None, known_miss: str) -> None:
    with pytest.raises(ValueError, match="our call"):
        Row("our call", SECOND, budget=budget, known_miss=known_miss)


def test_a_peer_without_an_environment_is_not_measured_and_says_how_to_get_one(tmp_path: Path) -> None:
    source = Source("benchmarks.peers.fastmcp", Peers(tmp_path).python("fastmcp"))

    measured = time_together([source], Effort(rounds=1)).of(source, "FastMCP call_tool")

    reason = "there is no environment of fastmcp; `make bench` creates it"
    assert measured == NotMeasured(reason)


def test_a_peer_runs_with_the_python_of_its_own_environment(tmp_path: Path) -> None:
    folder = tmp_path / "fastmcp" / "bin"
    folder.mkdir(parents=True)
    (folder / "python").symlink_to(sys.executable)

    python = Peers(tmp_path).python("fastmcp")

    assert (python.path, python.missing_because) == (str(folder / "python"), "")
    assert not python.is_own


def test_versions_name_what_is_installed_and_nothing_else() -> None:
    assert list(OWN.versions(["pydantic", "no-such-distribution"])) == ["pydantic"]


def test_every_group_of_rows_has_a_title_of_its_own() -> None:
    titles = [module.TITLE for module in ALL.values()]

    assert len(set(titles)) == len(titles)
