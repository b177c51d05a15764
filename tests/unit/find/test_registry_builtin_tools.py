"""Many tools registered at once, with their capabilities, their texts in one folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from handrail import Handrail, Principal, Registry, Tool, define
from handrail.ext.compat import default_registry, register_builtin_tools
from handrail.ext.errors import DefinitionError, DuplicateName


def answer(args: object) -> str:
    return "answer"


@pytest.mark.req("RG-12", "ED-01")
async def test_builtin_tools_are_registered_in_bulk_with_their_capabilities_and_texts(tmp_path: Path) -> None:
    (tmp_path / "read.txt").write_text("Read a file in ${other}.\n\nNot a folder.")
    (tmp_path / "later.txt").write_text("Come later.\n\nNot now.")
    registry = Registry()

    made = register_builtin_tools(
        tmp_path,
        [
            {
                "tool": define("read", description="Inline.", execute=answer),
                "permissions": {"required": ["read"]},
            },
            {
                "tool": define("later", lambda init: {"execute": answer}),
                "permissions": {"optional": ["network"]},
            },
            define("plain", description="Inline.", execute=answer),
        ],
        registry,
    )
    async with Handrail(registry=registry) as hr:
        later, plain, read = await hr.tools()

    assert [one.id for one in made] == ["read", "later", "plain"]
    assert (read.description, read.guidance) == ("Read a file in ${other}.", "Not a folder.")
    assert [*read.capabilities, *later.optional_capabilities] == ["read", "network"]
    assert (later.description, later.guidance) == ("Come later.", "Not now.")
    assert (plain.description, plain.capabilities) == ("Inline.", frozenset())


@pytest.mark.req("RG-12", "RG-18")
def test_builtin_tools_may_take_the_place_of_others(tmp_path: Path) -> None:
    registry = Registry([define("read", description="Older.", execute=answer)])
    newer = define("read", description="Newer.", execute=answer)

    with pytest.raises(DefinitionError):
        register_builtin_tools(tmp_path, [newer], registry)
    assert register_builtin_tools(tmp_path, [newer], registry, replace=True) == [registry.get("read")]


def test_a_text_changes_the_digest(tmp_path: Path) -> None:
    plain = define("read", description="Inline.", execute=answer)
    (tmp_path / "read.txt").write_text("Read a file.")

    [made] = register_builtin_tools(tmp_path, [plain], Registry())

    assert made.digest != plain.digest


def named(name: str, **options: Any) -> Tool:
    return define(name, description="Inline.", execute=answer, **options)


@pytest.mark.req("RG-12")
async def test_the_folder_of_a_package_describes_its_tools_to_models(tmp_path: Path) -> None:
    (tmp_path / "files.read.txt").write_text("Read a file.\n\nUse it when the path is known.")
    (tmp_path / "write.txt").write_text("Write a file.")
    (tmp_path / "unrelated.txt").write_text("Nobody's text.")
    (tmp_path / "plain.txt").write_text("  \n")
    registry = Registry()
    register_builtin_tools(
        str(tmp_path),
        [
            {"tool": named("files.read", level="read"), "permissions": {"required": ["read"]}},
            {"tool": named("files.write", level="read"), "permissions": None},
            named("plain", level="read"),
        ],
        registry,
    )

    async with Handrail(registry=registry) as hr:
        exported = {one["function"]["name"]: one["function"] for one in await hr.export("openai")}

    texts = {name: one["description"] for name, one in exported.items()}
    assert texts == {
        "files__read": "Read a file.\n\nUse it when the path is known.",
        "files__write": "Write a file.",
        "plain": "Inline.",
    }


@pytest.mark.req("RG-12", "TD-13", "PM-12")
async def test_what_is_registered_in_bulk_needs_its_capabilities(tmp_path: Path) -> None:
    registry = Registry()
    register_builtin_tools(
        tmp_path,
        [
            {"tool": named("read", level="read"), "permissions": {"required": ["read"]}},
            {"tool": named("fetch", level="read"), "permissions": {"required": ["network"]}},
        ],
        registry,
    )

    assert [one.id for one in registry.enabled(["read"])] == ["read"]


@pytest.mark.req("RG-12")
async def test_without_a_registry_it_is_the_default_one(tmp_path: Path) -> None:
    try:
        register_builtin_tools(tmp_path, [{"tool": named("madeup.bulk", level="read")}])
        async with Handrail(registry=default_registry) as hr:
            out = await hr.call("madeup.bulk", principal=Principal(tenant="acme"))
    finally:
        default_registry.unregister("madeup.bulk")

    assert out.result.data == "answer"


@pytest.mark.req("RG-12")
@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"tol": named("b")}, "an entry has 'tol' where 'tool' and 'permissions' belong"),
        ({}, "an entry has nothing where"),
        ({"tool": named("b"), "permission": {}}, "'tool', 'permission' where"),
        ({"tool": named("b"), "permissions": {"require": ["read"]}}, "'require' is neither required"),
        ({"tool": named("b"), "permissions": {"required": ["fly"]}}, "'fly' is not a capability"),
        ({"tool": answer}, "is not a tool"),
        (answer, "is not a tool"),
        (named("taken"), "the name 'taken' belongs to 'taken'"),
        (named("b", aliases=["a"]), "the name 'a' belongs to 'a'"),
    ],
)
def test_an_entry_that_cannot_be_registered_says_why_and_leaves_nothing_behind(
    tmp_path: Path, entry: Any, said: str
) -> None:
    registry = Registry([named("taken")])
    before = registry.list()

    with pytest.raises(DefinitionError, match=said):
        register_builtin_tools(tmp_path, [named("a"), entry, named("c")], registry)

    assert registry.list() == before


@pytest.mark.req("RG-12", "RG-18")
def test_what_was_replaced_comes_back_when_a_later_entry_fails(tmp_path: Path) -> None:
    older, other = named("read"), named("other")
    registry = Registry([older, other])

    with pytest.raises(DuplicateName):
        register_builtin_tools(
            tmp_path, [named("read"), named("new", aliases=["other"])], registry, replace=True
        )

    assert registry.list() == [other, older]


@pytest.mark.req("RG-12")
def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=r"there is no folder .*texts") as raised:
        register_builtin_tools(tmp_path / "texts", [named("read")], Registry())

    assert raised.value.location is not None and raised.value.location.file == __file__
