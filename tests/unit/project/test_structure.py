"""The package stays readable: the counts of `scripts/structure.py` keep within what was agreed."""

from __future__ import annotations

from pathlib import Path

from scripts import structure

MODULES = structure.load(structure.HERE / "src" / structure.PACKAGE)


def test_a_public_class_name_exists_once() -> None:
    classes = structure.public_classes(MODULES.values())
    assert {name: places for name, places in classes.items() if len(places) > 1} == {}


def test_no_modules_import_each_other_in_a_circle_not_even_for_types() -> None:
    assert structure.knots(MODULES) == []


def test_no_module_is_named_by_a_gerund() -> None:
    assert [module.name for module in MODULES.values() if structure.is_gerund(module)] == []


def test_no_door_imports_another() -> None:
    assert structure.between_doors(MODULES) == []


def test_no_module_is_longer_than_500_lines() -> None:
    assert [module.name for module in MODULES.values() if module.lines > 500] == []


def test_the_glossary_fits_on_two_screens() -> None:
    assert structure.glossary_rows(structure.HERE / "GLOSSARY.md") <= 130


def test_the_package_has_at_most_600_modules() -> None:
    assert len(MODULES) <= 600


def test_core_run_has_at_most_20_modules_of_its_own() -> None:
    assert len(structure.own_modules(MODULES, "handrail.core.run")) <= 20


def test_the_package_has_at_most_82_000_lines() -> None:
    assert sum(module.lines for module in MODULES.values()) <= 82_000


def test_a_circle_of_types_and_a_class_of_two_modules_are_noticed(tmp_path: Path) -> None:
    lazy = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from handrail.second import Line\n"
    (tmp_path / "first.py").write_text(f"{lazy}class Line: ...\nclass _Line: ...\n")
    (tmp_path / "second.py").write_text("def f():\n    import handrail.first\nclass Line: ...\n")
    (tmp_path / "choosing.py").write_text("from handrail.first import Line\n")
    modules = structure.load(tmp_path)
    assert structure.knots(modules) == [{"handrail.first", "handrail.second"}]
    assert structure.public_classes(modules.values()) == {"Line": ["handrail.first", "handrail.second"]}
    assert [name for name in modules if structure.is_gerund(modules[name])] == ["handrail.choosing"]
