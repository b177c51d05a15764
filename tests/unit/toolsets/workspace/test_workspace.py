"""The folder that the tools work in."""

from __future__ import annotations

import os
import socket
import threading
import unicodedata
from contextlib import suppress
from functools import partial
from itertools import count, cycle
from pathlib import Path
from typing import Literal

import pytest

from handrail import ToolError
from handrail.toolsets.workspace import PathRules, Workspace, find_root

Form = Literal["NFC", "NFD"]


def refused(code: str, workspace: Workspace, path: str) -> None:
    for act in (
        lambda: workspace.read(path),
        lambda: workspace.write(path, b"x"),
        lambda: workspace.remove(path),
    ):
        with pytest.raises(ToolError) as raised:
            act()
        assert raised.value.code == code


@pytest.mark.req("BF-10")
@pytest.mark.fault("F19")
@pytest.mark.parametrize(
    "path",
    [
        "../secret",
        "src/../../secret",
        "../root-evil/secret",
        "/etc/passwd",
        "out",
        "far/secret",
        "src/../out",
    ],
)
def test_no_path_leads_out(root: Path, path: str) -> None:
    (root / "out").symlink_to("../secret")
    (root / "far").symlink_to(root.parent / "root-evil")
    refused("OUTSIDE_WORKSPACE", Workspace(root), path)
    assert (root.parent / "secret").read_text() == (root.parent / "root-evil/secret").read_text() == "outside"


@pytest.mark.fault("F19")
@pytest.mark.parametrize("path", ["", "a\0b", "-rf", "x" * 300, "y/" * 3000, "z/" * 200, "\udcff"])
def test_what_is_no_path_is_said_so(root: Path, path: str) -> None:
    refused("INVALID_PATH", Workspace(root), path)


@pytest.mark.req("BF-10")
def test_the_same_file_has_many_spellings(root: Path) -> None:
    (root / "link").symlink_to("src")
    (root / "full").symlink_to(root / "src/a.py")
    (root / "src/deep").symlink_to(root / "src/a.py")
    (root.parent / "given").symlink_to(root)
    workspace = Workspace(root.parent / "given")
    spellings = [
        "src/deep",
        str(root.parent / "given/src/a.py"),
        "src/a.py",
        "./src//a.py",
        "src/../src/a.py",
        "link/a.py",
        "full",
        str(root / "src/a.py"),
    ]
    assert {workspace.relative(one) for one in spellings} == {"src/a.py"}
    assert {workspace.read(one) for one in spellings} == {b"a = 1\n"}
    assert len({workspace.key(one) for one in spellings}) == 1
    assert workspace.relative(".") == workspace.relative("src/..") == "."


@pytest.mark.fault("F19")
def test_links_in_a_circle_are_said_so(root: Path) -> None:
    (root / "one").symlink_to("two")
    (root / "two").symlink_to("one")
    refused("INVALID_PATH", Workspace(root), "one")


@pytest.mark.fault("F19")
def test_a_file_with_a_second_name_is_not_read_unless_allowed(root: Path) -> None:
    os.link(root.parent / "secret", root / "twin")
    refused("SEVERAL_LINKS", Workspace(root), "twin")
    assert (root.parent / "secret").read_text() == "outside"
    allowed = Workspace(root, PathRules(hardlinks=True))
    allowed.write("twin", b"mine")
    assert (root.parent / "secret").read_text() == "outside"


@pytest.mark.fault("F19")
def test_a_link_swapped_in_during_the_call_leads_nowhere(root: Path) -> None:
    workspace, over, seen, turned_away = Workspace(root), threading.Event(), set[bytes](), 0
    (root / "real").mkdir()
    (root / "real/secret").write_text("inside")
    (root / "inner").symlink_to("real")

    def swap() -> None:
        targets = cycle(["../root-evil", "real"])
        while not over.is_set():
            os.symlink(next(targets), root / "next")
            os.replace(root / "next", root / "inner")

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        for done in count():
            try:
                seen.add(workspace.read("inner/secret"))
                workspace.write("inner/secret", b"written")
            except ToolError:
                turned_away += 1
            if done >= 2_000 and turned_away and seen >= {b"inside", b"written"}:
                break
    finally:
        over.set()
        swapping.join()
    assert seen == {b"inside", b"written"}
    assert (root.parent / "root-evil/secret").read_text() == "outside"
    assert os.listdir(root.parent / "root-evil") == ["secret"]


@pytest.mark.fault("F19")
def test_a_file_that_becomes_a_link_during_the_call_is_not_followed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "file").write_bytes(b"inside")
    workspace, read = Workspace(root), os.readlink

    def and_swap(name: str, *, dir_fd: int) -> str:
        try:
            return read(name, dir_fd=dir_fd)
        finally:
            os.symlink("../secret", root / "next")
            os.replace(root / "next", root / "file")

    monkeypatch.setattr(os, "readlink", and_swap)
    with pytest.raises(ToolError) as raised:
        workspace.read("file")
    assert raised.value.code == "CHANGED_MEANWHILE"


def test_nothing_is_left_open(root: Path) -> None:
    (root / "link").symlink_to("src/../src/a.py")
    workspace = Workspace(root)
    workspace.write("src/a.py", b"")
    before = os.listdir("/proc/self/fd")
    for path in ("src/a.py", "link", "src/gone/x", "src/a.py/x", "../out", "src"):
        for act in (workspace.read, partial(workspace.write, data=b"x"), workspace.stat, workspace.remove):
            with suppress(ToolError):
                act(path)
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.fault("F19")
def test_a_link_inside_leads_to_any_name_and_one_to_no_name_is_said_so(root: Path) -> None:
    (root / "-rf").write_bytes(b"inside")
    (root / "link").symlink_to("-rf")
    (root / "odd").symlink_to(os.fsdecode(b"caf\xe9"))
    workspace = Workspace(root)
    assert (workspace.read("link"), workspace.relative("link")) == (b"inside", "./-rf")
    refused("INVALID_PATH", workspace, "odd")


@pytest.mark.fault("F19")
@pytest.mark.parametrize("stored", ["NFC", "NFD"])
@pytest.mark.parametrize("spelling", ["NFC", "NFD"])
def test_a_name_is_found_however_its_letters_are_composed(root: Path, stored: Form, spelling: Form) -> None:
    held, path = (unicodedata.normalize(one, "cafés/é.txt") for one in (stored, spelling))
    (root / held).parent.mkdir()
    (root / held).write_bytes(b"old")
    workspace = Workspace(root)
    assert (workspace.read(path), workspace.relative(path)) == (b"old", held)
    workspace.write(path, b"new")
    assert (root / held).read_bytes() == b"new"
    assert os.listdir((root / held).parent) == [Path(held).name]


@pytest.mark.fault("F19")
def test_a_pipe_a_folder_and_a_device_are_no_files(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as plug:
        plug.bind(str(root / "plug"))
    refused("NOT_A_FILE", Workspace(root), "pipe")
    refused("NOT_A_FILE", Workspace(root), "plug")
    refused("NOT_A_FILE", Workspace(root), "src")


@pytest.mark.parametrize(
    "path", [".git/hooks/pre-commit", "sub/.GIT/config", "handrail.toml", "Policy/x.yaml"]
)
def test_what_is_protected_is_read_and_not_changed(root: Path, path: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("kept")
    workspace = Workspace(root, PathRules(protected=("handrail.toml", "policy")))
    assert workspace.read(path) == b"kept"
    for act in (lambda: workspace.write(path, b"x"), lambda: workspace.remove(path)):
        with pytest.raises(ToolError) as raised:
            act()
        assert raised.value.code == "PROTECTED_PATH"
    assert (root / path).read_text() == "kept"


def test_no_folder_is_made_where_nothing_may_be_written(root: Path) -> None:
    (root / ".git").mkdir()
    with pytest.raises(ToolError):
        Workspace(root).write(".git/new/folder/x", b"x")
    with pytest.raises(ToolError):
        Workspace(root).write(".handrail/new/x", b"x")
    assert not (root / ".git/new").exists()
    assert not (root / ".handrail").exists()


@pytest.mark.parametrize(
    "path", [".handrail/changes.db", ".Handrail/x", "src/.handrail-12-3", "data/handrail.db.key"]
)
def test_what_is_hidden_is_not_there(root: Path, path: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("secret")
    refused("FILE_NOT_FOUND", Workspace(root, PathRules(hidden=("data/handrail.db.key",))), path)
    assert (root / path).read_text() == "secret"


@pytest.mark.fault("F19")
@pytest.mark.parametrize("spelled", ["data", "data/", "./data", "data//", "DATA/."])
def test_what_is_kept_is_meant_however_it_is_spelled(root: Path, spelled: str) -> None:
    (root / "data").mkdir()
    (root / "data/key").write_text("secret")
    refused("FILE_NOT_FOUND", Workspace(root, PathRules(hidden=(spelled,))), "data/key")
    with pytest.raises(ToolError) as raised:
        Workspace(root, PathRules(protected=(spelled,))).write("data/key", b"x")
    assert raised.value.code == "PROTECTED_PATH"


@pytest.mark.fault("F19")
@pytest.mark.parametrize("held", ["NFC", "NFD"])
@pytest.mark.parametrize("given", ["NFC", "NFD"])
def test_what_is_kept_is_meant_however_its_letters_are_stored(root: Path, held: Form, given: Form) -> None:
    stored, named = (unicodedata.normalize(form, "schlüssel/é.txt") for form in (held, given))
    (root / stored).parent.mkdir()
    (root / stored).write_text("secret")
    for path in (stored, named):
        refused("FILE_NOT_FOUND", Workspace(root, PathRules(hidden=(named,))), path)
        with pytest.raises(ToolError) as raised:
            Workspace(root, PathRules(protected=(named,))).write(path, b"x")
        assert raised.value.code == "PROTECTED_PATH"
    assert (root / stored).read_text() == "secret"


@pytest.mark.fault("F19")
@pytest.mark.parametrize("path", [".env", "src/../.env", "short"])
def test_a_link_that_is_kept_is_not_followed(root: Path, path: str) -> None:
    (root / ".env").symlink_to("src/a.py")
    (root / "short").symlink_to(".env")
    refused("FILE_NOT_FOUND", Workspace(root, PathRules(hidden=(".env",))), path)
    protecting = Workspace(root, PathRules(protected=(".env",)))
    assert protecting.read(path) == b"a = 1\n"
    for act in (lambda: protecting.write(path, b"x"), lambda: protecting.remove(path)):
        with pytest.raises(ToolError) as raised:
            act()
        assert raised.value.code == "PROTECTED_PATH"
    assert (root / "src/a.py").read_bytes() == b"a = 1\n"


def test_whoever_listens_is_told_what_changed(root: Path) -> None:
    workspace, raised = Workspace(root), list[str | None]()
    workspace.listen(raised.append)
    (root / "link").symlink_to("src")
    workspace.write("link/a.py", b"")
    workspace.remove("src/a.py")
    workspace.notify_changed(None)
    assert raised == ["src/a.py", "src/a.py", None]


@pytest.mark.req("BF-10")
def test_a_workspace_begins_where_the_variable_says_or_the_repository_does(root: Path) -> None:
    (root / ".git").mkdir()
    home = {"HOME": str(root.parent)}
    assert find_root(root / "src", home) == root
    assert find_root(root / "src", {**home, "AGENT_WORKSPACE_ROOT": str(root / "src")}) == root / "src"
    assert find_root(root / "src", {"HOME": str(root)}) == root / "src"
