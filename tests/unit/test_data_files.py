"""Documents of people: read strictly, refused with the place and what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from handrail.data_files import DataFileError, parse_json, parse_yaml, parse_yaml_1_2, read_data_file


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '{"agents": [{"id": "x", "n": 1}]}'),
        ("a.toml", '[[agents]]\nid = "x"\nn = 1\n'),
        ("a.yaml", "agents:\n- id: x\n  n: 1\n"),
        ("A.YML", "agents: [{id: x, n: 1}]"),
    ],
)
def test_the_name_says_the_format(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text)
    assert read_data_file(file) == {"agents": [{"id": "x", "n": 1}]}


@pytest.mark.parametrize(
    ("name", "text", "problem", "remedy"),
    [
        ("a.ini", "", "its format is not known", "let its name end in one of: .toml, .yaml, .yml, .json"),
        ("a.json", "{'a': 1}", "it is not JSON (Expecting property name", "text and names in double quotes"),
        ("a.json", '{"a": 1, "a": 2}', "'a' is given twice in one object", "keep one of them"),
        ("a.json", "[Infinity]", "Infinity is not a JSON number", "leave it out"),
        ("a.json", "9" * 5000, "it cannot be read as JSON", "a smaller number"),
        (
            "a.toml",
            "a = 1\na = 2\n",
            "it is not TOML (Cannot overwrite a value (at line 2, column 6",
            "there",
        ),
        ("a.yaml", "a: 1\nb: 2\na: 3\n", ":3: 'a' is given twice", "keep one of them"),
        ("a.yaml", "a: [1\nb: 2\n", ":2: it is not YAML", "correct it there"),
        (
            "a.yaml",
            "!!python/object/apply:os.system [ls]",
            ":1: it is not YAML (could not determine",
            "correct",
        ),
        ("a.yaml", "a: \x00", "it is not YAML", "correct it"),
    ],
)
def test_a_bad_document_says_where_and_what_to_do(
    tmp_path: Path, name: str, text: str, problem: str, remedy: str
) -> None:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(DataFileError) as error:
        read_data_file(file)
    assert error.value.problem.startswith(str(file)) and problem in error.value.problem
    assert remedy in (error.value.remedy or "")


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"it cannot be read \(No such file or directory\)"):
        read_data_file(tmp_path / "none.json")
    (tmp_path / "latin.json").write_bytes(b'"\xe4"')
    with pytest.raises(DataFileError, match="it is not UTF-8 text"):
        read_data_file(tmp_path / "latin.json")


def test_json_that_is_nested_too_deep_is_refused() -> None:
    with pytest.raises(DataFileError, match="it cannot be read as JSON"):
        parse_json("[" * 200_000, "--args")


def test_without_pyyaml_yaml_says_how_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: 1")
    program = (
        "import sys; sys.modules['yaml'] = None\n"
        "from pathlib import Path; from handrail.data_files import read_data_file\n"
        "read_data_file(Path('a.yaml'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "a.yaml: reading YAML needs the package pyyaml" in done.stderr
    assert (
        "remedy: pip install 'handrail[yaml]' (or pyyaml), or write the file as TOML or JSON" in done.stderr
    )


def test_yaml_between_programs_is_no_more_than_json() -> None:
    text = "{on: yes, country: NO, day: 2020-01-01, sure: true, none: ~, n: 1.5}"
    told = {"on": "yes", "country": "NO", "day": "2020-01-01", "sure": True, "none": None, "n": 1.5}
    assert parse_yaml_1_2(text, "a.yaml") == told
    assert parse_yaml("a: yes", "a.yaml") == {"a": True}
    with pytest.raises(DataFileError, match="given twice"):
        parse_yaml_1_2("a: 1\na: 2", "a.yaml")
