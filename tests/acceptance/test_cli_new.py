"""handrail new tool: what it writes works at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.doors.cli.new import STYLES
from tests.acceptance.forked_cli import handrail


@pytest.mark.req("TD-21")
@pytest.mark.parametrize("style", STYLES)
def test_a_new_tool_runs_in_every_style(tmp_path: Path, style: str) -> None:
    done = handrail("new", "tool", "notes.searchAll", "--style", style, cwd=tmp_path)
    assert done.code == 0
    assert done.out.split() == ["notes_search_all.py", "notes.searchAll.txt", "test_notes_search_all.py"]
    shown = handrail("show", "notes.searchAll", "--tools", "notes_search_all.py", "--json", cwd=tmp_path).json
    assert (
        shown["description"] == "Greet one person by name, once or a few times, and give back the greeting."
    )
    assert shown["guidance"].startswith("Use it to see that calls arrive.")
    ran = handrail("run", "notes.searchAll", "--tools", "notes_search_all.py", "--name=Ada", cwd=tmp_path)
    assert ran.json == {"text": "Hello, Ada!"}


def test_inside_a_package_the_test_imports_by_the_packages_name(tmp_path: Path) -> None:
    (tmp_path / "shop" / "tools").mkdir(parents=True)
    for folder in ("shop", "shop/tools"):
        (tmp_path / folder / "__init__.py").touch()
    done = handrail("new", "tool", "orders.find", "--path", "shop/tools", cwd=tmp_path)
    assert done.out.split()[0] == "shop/tools/orders_find.py"
    assert "Try it:   handrail run orders.find --tools shop/tools/orders_find.py --name Ada" in done.err
    test = (tmp_path / "shop/tools/test_orders_find.py").read_text()
    assert "from shop.tools.orders_find import orders_find" in test


def test_a_folder_that_is_not_there_is_made(tmp_path: Path) -> None:
    assert handrail("new", "tool", "find", "--path", "a/b", cwd=tmp_path).code == 0
    assert sorted(path.name for path in (tmp_path / "a/b").iterdir()) == [
        "find.py",
        "find.txt",
        "test_find.py",
    ]


def test_nothing_is_overwritten_unless_forced(tmp_path: Path) -> None:
    (tmp_path / "a.find.txt").write_text("precious")
    done = handrail("new", "tool", "a.find", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: already there: a.find.txt\n  choose another name, or overwrite with --force\n"
    assert [path.name for path in tmp_path.iterdir()] == ["a.find.txt"]
    assert (tmp_path / "a.find.txt").read_text() == "precious"
    assert handrail("new", "tool", "a.find", "--force", cwd=tmp_path).code == 0
    assert "precious" not in (tmp_path / "a.find.txt").read_text()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("search notes!", "; perhaps search_notes\n"),
        ("1st", ", at most 128 characters\n"),
        ("a..b", "; perhaps a_b\n"),
        ("../evil", "; perhaps evil\n"),
        ("", ", at most 128 characters\n"),
    ],
)
def test_a_name_no_tool_can_have_is_refused_with_the_rule(tmp_path: Path, name: str, said: str) -> None:
    done = handrail("new", "tool", name, cwd=tmp_path)
    assert done.code == 2
    assert done.err.startswith(
        f"error: {name!r} is not a name a tool can have\n  use letters, digits, _ and -"
    )
    assert done.err.endswith(said)
    assert list(tmp_path.iterdir()) == []


def test_a_file_never_hides_a_module_of_python(tmp_path: Path) -> None:
    done = handrail("new", "tool", "json", cwd=tmp_path)
    assert done.out.split() == ["json_tool.py", "json.txt", "test_json_tool.py"]
    assert handrail("new", "tool", "import", cwd=tmp_path).out.split()[0] == "import_tool.py"
    ran = handrail("run", "json", "--tools", "json_tool.py", "--name=Ada", cwd=tmp_path)
    assert ran.json == {"text": "Hello, Ada!"}


def test_a_style_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    done = handrail("new", "tool", "a.b", "--style", "baroque", cwd=tmp_path)
    assert done.code == 2
    assert "use one of: function, class, definition, parameters, schema" in done.err


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = handrail("new", "tool", "a.b", "--path", "file", cwd=tmp_path)
    assert done.code == 2
    assert done.err.startswith("error: file cannot be written (File exists)")
