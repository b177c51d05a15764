"""The folder that the tools work in."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from itertools import cycle
from pathlib import Path

import pytest

from handrail.ext import ToolError
from handrail.toolsets.workspace import Keeping, Workspace, find_root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root/src").mkdir(parents=True)
    (tmp_path / "root/src/a.py").write_bytes(b"a = 1\n")
    (tmp_path / "root-evil").mkdir()
    (tmp_path / "root-evil/secret").write_text("outside")
    (tmp_path / "secret").write_text("outside")
    return tmp_path / "root"


def refused(code: str, workspace: Workspace, path: str) -> None:
    for act in (
        lambda: workspace.read(path),
        lambda: workspace.write(path, b"x"),
        lambda: workspace.remove(path),
    ):
        with pytest.raises(ToolError) as told:
            act()
        assert told.value.code == code


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
@pytest.mark.parametrize("path", ["", "a\0b", "-rf", "x" * 300, "y/" * 3000, "\udcff"])
def test_what_is_no_path_is_said_so(root: Path, path: str) -> None:
    refused("INVALID_PATH", Workspace(root), path)


@pytest.mark.req("BF-10")
def test_the_same_file_has_many_spellings(root: Path) -> None:
    (root / "link").symlink_to("src")
    (root / "full").symlink_to(root / "src/a.py")
    workspace = Workspace(root)
    spellings = ["src/a.py", "./src//a.py", "src/../src/a.py", "link/a.py", "full", str(root / "src/a.py")]
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
    allowed = Workspace(root, Keeping(hardlinks=True))
    allowed.write("twin", b"mine")
    assert (root.parent / "secret").read_text() == "outside"


@pytest.mark.fault("F19")
def test_a_link_swapped_in_during_the_call_leads_nowhere(root: Path) -> None:
    workspace, over, seen = Workspace(root), threading.Event(), set[bytes]()
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
        for _ in range(2_000):
            with suppress(ToolError):
                seen.add(workspace.read("inner/secret"))
                workspace.write("inner/secret", b"written")
    finally:
        over.set()
        swapping.join()
    assert seen == {b"inside", b"written"}
    assert (root.parent / "root-evil/secret").read_text() == "outside"
    assert os.listdir(root.parent / "root-evil") == ["secret"]


@pytest.mark.fault("F19")
def test_a_pipe_a_folder_and_a_device_are_no_files(root: Path) -> None:
    os.mkfifo(root / "pipe")
    refused("NOT_A_FILE", Workspace(root), "pipe")
    refused("NOT_A_FILE", Workspace(root), "src")


@pytest.mark.parametrize(
    "path", [".git/hooks/pre-commit", "sub/.GIT/config", "handrail.toml", "Policy/x.yaml"]
)
def test_what_is_protected_is_read_and_not_changed(root: Path, path: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("kept")
    workspace = Workspace(root, Keeping(protected=("handrail.toml", "policy")))
    assert workspace.read(path) == b"kept"
    for act in (lambda: workspace.write(path, b"x"), lambda: workspace.remove(path)):
        with pytest.raises(ToolError) as told:
            act()
        assert told.value.code == "PROTECTED_PATH"
    assert (root / path).read_text() == "kept"


def test_no_folder_is_made_where_nothing_may_be_written(root: Path) -> None:
    (root / ".git").mkdir()
    with pytest.raises(ToolError):
        Workspace(root).write(".git/new/folder/x", b"x")
    with pytest.raises(ToolError):
        Workspace(root).write(".handrail/new/x", b"x")
    assert not (root / ".git/new").exists()
    assert not (root / ".handrail").exists()


@pytest.mark.parametrize("path", [".handrail/changes.db", "data/handrail.db.key"])
def test_what_is_hidden_is_not_there(root: Path, path: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("secret")
    refused("FILE_NOT_FOUND", Workspace(root, Keeping(hidden=("data/handrail.db.key",))), path)
    assert (root / path).read_text() == "secret"


@pytest.mark.req("BF-02")
def test_a_file_is_replaced_with_its_mode_and_nothing_else_is_left(root: Path) -> None:
    workspace = Workspace(root)
    os.chmod(root / "src/a.py", 0o4750)
    before = workspace.stamp("src/a.py")
    after = workspace.write("src/a.py", b"a = 2\n", expected=before)
    assert workspace.stamp("src/a.py") == after != before
    assert (root / "src/a.py").stat().st_mode & 0o7777 == 0o750
    assert os.listdir(root / "src") == ["a.py"]
    assert os.listdir(workspace.state / "drafts") == []
    assert (workspace.state / ".gitignore").read_text() == "*\n"


@pytest.mark.req("BF-11")
def test_folders_on_the_way_are_made(root: Path) -> None:
    workspace = Workspace(root)
    assert workspace.missing("new/deep/file.txt") == ("new", "new/deep")
    workspace.write("new/deep/file.txt", b"x")
    assert workspace.missing("new/deep/file.txt") == ()
    assert (root / "new/deep/file.txt").read_bytes() == b"x"


def test_a_file_that_somebody_else_changed_is_not_overwritten(root: Path) -> None:
    workspace = Workspace(root)
    seen = workspace.stamp("src/a.py")
    (root / "src/a.py").write_text("theirs, and longer")
    for act in (
        lambda: workspace.write("src/a.py", b"mine", expected=seen),
        lambda: workspace.write("src/a.py", b"mine", expected=None),
        lambda: workspace.remove("src/a.py", expected=seen),
    ):
        with pytest.raises(ToolError) as told:
            act()
        assert told.value.code == "CHANGED_MEANWHILE"
    assert (root / "src/a.py").read_text() == "theirs, and longer"


def test_what_a_killed_process_left_is_swept(root: Path) -> None:
    (root / ".handrail/drafts").mkdir(parents=True)
    (root / ".handrail/drafts/.handrail-4194399-0").write_text("half")
    Workspace(root).write("b", b"whole")
    assert os.listdir(root / ".handrail/drafts") == []


def test_whoever_listens_is_told_what_changed(root: Path) -> None:
    workspace, told = Workspace(root), list[str | None]()
    workspace.listen(told.append)
    (root / "link").symlink_to("src")
    workspace.write("link/a.py", b"")
    workspace.remove("src/a.py")
    workspace.tell(None)
    assert told == ["src/a.py", "src/a.py", None]


@pytest.mark.req("BF-10")
def test_a_workspace_begins_where_the_variable_says_or_the_repository_does(root: Path) -> None:
    (root / ".git").mkdir()
    home = {"HOME": str(root.parent)}
    assert find_root(root / "src", home) == root
    assert find_root(root / "src", {**home, "AGENT_WORKSPACE_ROOT": str(root / "src")}) == root / "src"
    assert find_root(root / "src", {"HOME": str(root)}) == root / "src"
