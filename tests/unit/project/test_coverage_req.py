"""`make coverage-req`: the specification and the marks of the tests, held against each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts.coverage_req import main, measure

REPOSITORY = Path(__file__).parents[3]

REQUIREMENTS = """
# Requirements
- A line of prose about `TD-09`, which is no requirement.

## 1. Tool definition (TD)
- TD-01 One definition serves all. [1]
- TD-02 It has parts, see NM-01.

## 2. Naming (NM)
- NM-01 Dotted names are legal.
"""
FAULTS = "**Durability**\n- F01 The process is killed.\n- F02 The disk is full.\n"


def project(root: Path, tests: str = "", *, requirements: str = REQUIREMENTS) -> Path:
    """A small tree with a specification and one file of tests."""
    (root / "docs/spec").mkdir(parents=True)
    (root / "docs/spec/requirements.md").write_text(requirements)
    (root / "docs/spec/faults.md").write_text(FAULTS)
    (root / "tests/unit").mkdir(parents=True)
    (root / "tests/unit/test_made_up.py").write_text(f"import pytest\nfrom pytest import mark\n{tests}")
    return root


def test_ids_come_from_the_list_lines_only(tmp_path: Path) -> None:
    coverage = measure(project(tmp_path))

    assert coverage.groups == {"TD": ("TD-01", "TD-02"), "NM": ("NM-01",), "F": ("F01", "F02")}
    assert coverage.proved == {}


@pytest.mark.parametrize(
    ("tests", "proved"),
    [
        ('@pytest.mark.req("TD-01")\ndef test_a(): ...', ["TD-01"]),
        ('@pytest.mark.req("TD-01", "NM-01")\nasync def test_a(): ...', ["NM-01", "TD-01"]),
        ('@mark.fault("F02")\nclass TestA: ...', ["F02"]),
        ('pytestmark = [pytest.mark.req("TD-02"), pytest.mark.fault("F01")]', ["F01", "TD-02"]),
        ('A = [pytest.param(1, marks=pytest.mark.req("NM-01"))]', ["NM-01"]),
        ('other.mark.req("NM-01")', []),
        ('# pytest.mark.req("NM-01")', []),
    ],
)
def test_a_mark_proves_what_it_names(tmp_path: Path, tests: str, proved: list[str]) -> None:
    coverage = measure(project(tmp_path, tests))

    assert sorted(coverage.proved) == proved
    assert coverage.unknown == ()


def test_requirements_without_a_test_are_printed_by_group(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = project(tmp_path, '@pytest.mark.req("TD-02", "NM-01")\ndef test_a(): ...')

    assert main(["--root", str(root)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "TD    1/2   without a test: TD-01",
        "NM    1/1   all proved",
        "F     0/2   without a test: F01 F02",
        "2 of 5 proved",
    ]


@pytest.mark.parametrize(
    ("tests", "complaint"),
    [
        ('@pytest.mark.req("TD-99")\ndef test_a(): ...', "'TD-99', which docs/spec/requirements.md does not"),
        ('@pytest.mark.req("F01")\ndef test_a(): ...', "'F01', which docs/spec/requirements.md does not"),
        ('@pytest.mark.fault("TD-01")\ndef test_a(): ...', "'TD-01', which docs/spec/faults.md does not"),
        ("@pytest.mark.req()\ndef test_a(): ...", "needs its ids as literal strings"),
        ("@pytest.mark.req(ID)\ndef test_a(): ...", "needs its ids as literal strings"),
        ("@pytest.mark.req(*IDS)\ndef test_a(): ...", "needs its ids as literal strings"),
    ],
)
def test_a_mark_that_names_nothing_fails_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tests: str, complaint: str
) -> None:
    assert main(["--root", str(project(tmp_path, tests))]) == 1

    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("tests/unit/test_made_up.py:3: pytest.mark.")
    assert complaint in last


@pytest.mark.parametrize(
    ("group", "code"),
    [("NM", 0), ("TD", 1), ("NM,TD", 1), ("NM, TD-02", 0), ("TD-01", 1), ("F", 1), ("XY", 2), ("NM-07", 2)],
)
def test_a_named_group_or_id_must_be_proved(tmp_path: Path, group: str, code: int) -> None:
    root = project(tmp_path, '@pytest.mark.req("NM-01", "TD-02")\ndef test_a(): ...')

    assert main(["--root", str(root), "--group", group]) == code


def test_only_the_named_groups_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--root", str(project(tmp_path)), "--group", "NM"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "NM    0/1   without a test: NM-01",
        "0 of 1 proved",
        "asked for, but not proved: NM-01",
    ]


def test_json_tells_the_same_to_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = project(tmp_path, '@pytest.mark.req("NM-01", "TD-77")\ndef test_a(): ...')

    assert main(["--root", str(root), "--group", "TD-01", "--json"]) == 1

    report = json.loads(capsys.readouterr().out)
    assert report["groups"]["TD"] == {"ids": ["TD-01", "TD-02"], "unproved": ["TD-01", "TD-02"]}
    assert report["proved"] == {"NM-01": ["tests/unit/test_made_up.py:3"]}
    assert report["demanded"] == ["TD-01"]
    assert len(report["unknown"]) == 1


@pytest.mark.parametrize(
    ("tests", "requirements", "complaint"),
    [
        ("def test_a(:", REQUIREMENTS, "tests/unit/test_made_up.py:3:"),
        ("", REQUIREMENTS + "- NM-01 Again.\n", "NM-01 twice"),
    ],
)
def test_what_cannot_be_read_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tests: str, requirements: str, complaint: str
) -> None:
    assert main(["--root", str(project(tmp_path, tests, requirements=requirements))]) == 2
    assert complaint in capsys.readouterr().err


def test_a_tree_without_a_specification_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--root", str(tmp_path)]) == 2
    assert "docs/spec/requirements.md" in capsys.readouterr().err


def test_every_mark_of_this_repository_names_a_requirement() -> None:
    assert [str(mark) for mark in measure(REPOSITORY).unknown] == []
