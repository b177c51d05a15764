"""The public face: exactly the documented names, cheap to import."""

import ast
import pkgutil
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import handrail
import handrail.ext
import handrail.sync

DOCUMENTED = """
tool define from_params from_json_schema BaseTool Tool Result Context
Handrail Call Outcome Principal Policy Rule Decision Registry Toolset Retry ToolMatch
ToolError HandrailError ApprovalRequest Attachment load_policies
""".split()
AUTHORS = [part.name for part in pkgutil.iter_modules(handrail.ext.__path__)]


def names_of(module: str) -> list[str]:
    """What a part of `handrail.ext` exports: it imports nothing else."""
    return [name for name in vars(import_module(f"handrail.ext.{module}")) if not name.startswith("_")]


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


@pytest.mark.parametrize("module", AUTHORS)
def test_every_name_for_authors_is_there(module: str) -> None:
    part = import_module(f"handrail.ext.{module}")
    assert not any(isinstance(getattr(part, name), ModuleType) for name in names_of(module))
    assert set(names_of(module)).isdisjoint(handrail.__all__)
    assert f"| `{module}` | {part.__doc__} |" in (handrail.ext.__doc__ or "")


@pytest.mark.parametrize("module", AUTHORS)
def test_every_name_for_authors_is_exported_also_for_type_checkers(module: str) -> None:
    tree = ast.parse(Path(import_module(f"handrail.ext.{module}").__file__ or "").read_text(encoding="utf-8"))
    aliases = [alias for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert [alias.name for alias in aliases if alias.asname != alias.name] == []


@pytest.mark.parametrize("module", AUTHORS)
def test_every_name_for_authors_is_on_the_page_for_them(module: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "ports.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith(f"| `handrail.ext.{module}`"))
    assert [name for name in names_of(module) if f"`{name}`" not in row] == []


def test_a_name_for_authors_is_in_one_module() -> None:
    names = Counter(name for module in AUTHORS for name in names_of(module))
    assert [name for name, count in names.items() if count > 1] == []


def test_the_package_for_authors_has_no_names_and_loads_nothing() -> None:
    code = "import handrail.ext, sys; print(*(name for name in sys.modules if name.startswith('handrail')))"
    assert in_a_new_process(code).split() == ["handrail", "handrail.ext"]


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
        (
            "from handrail import Handrail, tool",
            "jsonschema_rs hypothesis pytest asyncio logging concurrent.futures importlib.metadata "
            "annotated_types handrail.core.run.pipeline".split(),
        ),
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
