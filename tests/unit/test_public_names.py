"""The public face: exactly the documented names, cheap to import."""

import subprocess
import sys
from pathlib import Path

import pytest

import handrail
import handrail.ext
import handrail.sync

DOCUMENTED = """
tool define from_params from_json_schema BaseTool Tool Result Context
Handrail Call Outcome Principal Policy Rule Decision Registry Toolset Retry ToolMatch
""".split()


def in_a_new_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_public_names_are_exactly_the_documented_ones() -> None:
    assert sorted(handrail.__all__) == sorted(DOCUMENTED)
    assert set(DOCUMENTED) <= set(dir(handrail))


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_public_name_is_there(name: str) -> None:
    assert callable(getattr(handrail, name)) or name == "Toolset"
    assert getattr(handrail, name) is getattr(handrail, name)


def test_every_name_for_authors_is_there() -> None:
    assert all(getattr(handrail.ext, name) is not None for name in handrail.ext.__all__)
    assert set(handrail.ext.__all__).isdisjoint(handrail.__all__)


def test_every_name_for_authors_is_on_the_page_for_them() -> None:
    page = (Path(__file__).parents[2] / "docs" / "ports.md").read_text(encoding="utf-8")
    assert [name for name in handrail.ext.__all__ if f"`{name}`" not in page] == []


def test_an_unknown_name_says_so() -> None:
    with pytest.raises(AttributeError, match="module 'handrail' has no attribute 'tools'"):
        handrail.tools


def test_a_star_import_brings_the_public_names() -> None:
    code = "from handrail import *; print(*sorted(name for name in dir() if not name.startswith('_')))"
    assert in_a_new_process(code).split() == sorted(DOCUMENTED)


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import handrail", ["jsonschema_rs", "asyncio", "pydantic"]),
        ("from handrail import Handrail, tool", ["jsonschema_rs", "hypothesis", "pytest"]),
        (
            "from handrail import Handrail, tool\n"
            "@tool('a.b', level='read')\nasync def f(x: int) -> int:\n    'Add.'\n    return x\n"
            "Handrail([f])",
            ["jsonschema_rs", "hypothesis"],
        ),
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(code: str, absent: list[str]) -> None:
    found = in_a_new_process(
        f"{code}\nimport sys\nprint(*(name for name in {absent!r} if name in sys.modules))"
    )
    assert found == ""


def test_the_version_is_the_packages() -> None:
    from importlib.metadata import version

    assert handrail.__version__ == version("handrail")
