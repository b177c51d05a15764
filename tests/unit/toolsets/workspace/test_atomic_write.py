"""What is written to a workspace: as a whole, by one at a time, and never over what somebody else wrote."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from handrail import ToolError
from handrail.toolsets.workspace import Workspace, locks


@pytest.mark.req("BF-02")
def test_a_file_is_replaced_with_its_mode_and_nothing_else_is_left(root: Path) -> None:
    workspace = Workspace(root)
    os.chmod(root / "src/a.py", 0o4750)
    before = workspace.stamp("src/a.py")
    workspace.write("src/a.py", b"a = 2\n", expected=before)
    assert workspace.stamp("src/a.py") != before
    assert (root / "src/a.py").read_bytes() == b"a = 2\n"
    assert (root / "src/a.py").stat().st_mode & 0o7777 == 0o750
    workspace.write("src/a.py", b"a = 3\n", mode=0o4711)
    assert (root / "src/a.py").stat().st_mode & 0o7777 == 0o711
    assert os.listdir(root / "src") == ["a.py"]
    assert os.listdir(workspace.state / "drafts") == []
    assert (workspace.state / ".gitignore").read_text() == "*\n"


_ELSEWHERE = """
import os, sys
from handrail.toolsets.workspace import Workspace
workspace = Workspace(sys.argv[1])
os.chmod(workspace.root / "other/a", 0o640)
assert os.stat(workspace.root / "other").st_dev != os.stat(workspace.root).st_dev
workspace.write("other/a", b"new", expected=workspace.stamp("other/a"))
workspace.write("other/deep/b", b"made")
assert workspace.read("other/a") == b"new"
assert os.stat(workspace.root / "other/a").st_mode & 0o777 == 0o640
assert sorted(os.listdir(workspace.root / "other")) == ["a", "deep"]
assert os.listdir(workspace.root / "other/deep") == ["b"]
assert os.listdir(workspace.state / "drafts") == []
"""


@pytest.mark.req("BF-02")
def test_a_file_on_another_file_system_is_replaced_as_a_whole_too(root: Path) -> None:
    (root / "other").mkdir()
    mounted = ["bwrap", "--dev-bind", "/", "/", "--tmpfs", str(root / "other")]
    old = ["--file", "0", str(root / "other/a")]
    command = [*mounted, *old, sys.executable, "-c", _ELSEWHERE, str(root)]
    done = subprocess.run(command, input=b"old", capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.req("BF-11")
def test_folders_on_the_way_are_made(root: Path) -> None:
    workspace = Workspace(root)
    assert workspace.missing_folders("new/deep/file.txt") == ("new", "new/deep")
    workspace.write("new/deep/file.txt", b"x")
    assert workspace.missing_folders("new/deep/file.txt") == ()
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
        with pytest.raises(ToolError) as raised:
            act()
        assert raised.value.code == "CHANGED_MEANWHILE"
    assert (root / "src/a.py").read_text() == "theirs, and longer"


@pytest.mark.fault("F20")
@pytest.mark.parametrize("shared", [True, False], ids=["threads", "processes"])
def test_those_who_change_one_file_lose_nothing_of_each_other(
    root: Path, monkeypatch: pytest.MonkeyPatch, shared: bool
) -> None:
    one = Workspace(root)
    other = one if shared else Workspace(root)  # a process opens the folder for itself
    seen, replace, codes = one.stamp("src/a.py"), os.replace, list[str]()

    def late() -> None:
        try:
            other.write("src/a.py", b"theirs", expected=seen)
        except ToolError as error:
            codes.append(error.code)

    rival = threading.Thread(target=late)

    def while_another_tries(*args: Any, **named: Any) -> None:
        if not rival.ident:
            rival.start()
            rival.join(0.3)
        replace(*args, **named)

    monkeypatch.setattr(os, "replace", while_another_tries)
    one.write("src/a.py", b"ours", expected=seen)
    rival.join()
    assert codes == ["CHANGED_MEANWHILE"]
    assert (root / "src/a.py").read_bytes() == b"ours"


def test_a_process_that_was_stopped_in_the_midst_of_a_change_is_not_waited_for_forever(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "_WAIT", 0.0)
    workspace = Workspace(root)
    held = os.open(workspace.state_subfolder("drafts"), os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    for act in (lambda: workspace.write("src/a.py", b"x"), lambda: workspace.remove("src/a.py")):
        with pytest.raises(ToolError) as raised:
            act()
        assert raised.value.code == "CHANGED_MEANWHILE"
    os.close(held)
    workspace.write("src/a.py", b"x")
    assert os.listdir(workspace.state / "drafts") == []


@pytest.mark.fault("F21")
def test_what_a_killed_process_left_is_swept_at_opening(root: Path) -> None:
    (root / ".handrail/drafts").mkdir(parents=True)
    (root / ".handrail/drafts/.handrail-4194399-0").write_text("half")
    os.link(root / "src/a.py", root / ".handrail/drafts/.handrail-4194399-1")
    (root / f".handrail/drafts/.handrail-{os.getpid()}-1000000").write_text("ours")
    assert Workspace(root).read("src/a.py") == b"a = 1\n"
    assert os.listdir(root / ".handrail/drafts") == [f".handrail-{os.getpid()}-1000000"]


def test_a_new_file_is_made_where_none_can_be_without_a_name(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "O_TMPFILE", os.O_DIRECTORY)  # what it is to a system that does not know it
    workspace = Workspace(root)
    workspace.write("src/b.py", b"b = 1\n")
    with pytest.raises(ToolError) as raised:
        workspace.write("src/b.py", b"b = 2\n", expected=None)
    assert raised.value.code == "CHANGED_MEANWHILE"
    assert workspace.read("src/b.py") == b"b = 1\n"
    assert os.listdir(workspace.state / "drafts") == []


@pytest.mark.fault("F19")
@pytest.mark.parametrize(
    "planted", [".handrail", ".handrail/drafts", ".handrail/.gitignore", ".handrail/drafts/.handrail-1-0"]
)
def test_a_folder_of_our_name_that_came_with_links_leads_nowhere(root: Path, planted: str) -> None:
    outside = root.parent / "root-evil"
    (root / planted).parent.mkdir(parents=True, exist_ok=True)
    (root / planted).symlink_to(outside / "new" if planted.endswith("ignore") else outside)
    with pytest.raises(ToolError) as raised:
        Workspace(root).write("src/a.py", b"changed")
    assert raised.value.code == "INVALID_PATH"
    assert "remove it" in str(raised.value)
    assert os.listdir(outside) == ["secret"]
    assert (root / "src/a.py").read_bytes() == b"a = 1\n"


def test_work_goes_on_when_somebody_removes_all_that_git_ignores(root: Path) -> None:
    workspace = Workspace(root)
    workspace.write("src/a.py", b"a = 2\n")
    shutil.rmtree(workspace.state)
    workspace.write("src/a.py", b"a = 3\n")
    workspace.write("src/new.py", b"")
    workspace.close()
    assert (root / "src/a.py").read_bytes() == b"a = 3\n"
    assert (workspace.state / ".gitignore").read_text() == "*\n"
