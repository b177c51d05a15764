"""What a file keeps when it gets new bytes: who owns it, who may use it, what is attached to it."""

from __future__ import annotations

import os
import stat
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from handrail.toolsets.workspace import Workspace

_LIST = "system.posix_acl_access"
_ROOT = os.geteuid() == 0
"""Only root gives files away; whoever else runs this has none but their own."""
_NOBODY = 65_534
_WRITING = """
import os, sys
from handrail import ToolError
from handrail.toolsets.workspace import Workspace
if os.geteuid() == 0:
    os.setgroups([2000])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
workspace = Workspace(sys.argv[1])
for path in sys.argv[2:]:
    try:
        workspace.write(path, b"new")
        print("written")
    except ToolError as error:
        print(error.code)
"""
"""Written by one who is not root."""


def _access_list(*entries: tuple[int, int, int]) -> bytes:
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *one) for one in entries)


def _attached(path: Path) -> dict[str, bytes]:
    return {name: os.getxattr(path, name) for name in os.listxattr(path)}


def _stands(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)


def _made(path: Path, owner: int, group: int, mode: int) -> None:
    path.write_bytes(b"old")
    _give(path, owner, group)
    os.chmod(path, mode)


def _give(path: Path, owner: int, group: int) -> None:
    if _ROOT:
        os.chown(path, owner, group)


def _held(owner: int, group: int) -> tuple[int, int]:
    return (owner, group) if _ROOT else (os.getuid(), os.getgid())


@pytest.fixture(scope="module")
def shared() -> Iterator[Path]:
    """A folder of nobody with files of others, where nobody wrote them all."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        root.chmod(0o755)
        _give(root, _NOBODY, _NOBODY)
        _made(root / "mine", _NOBODY, _NOBODY, 0o444)
        _made(root / "theirs", 0, 0, 0o644 if _ROOT else 0o444)
        _made(root / "ours", 1000, 2000, 0o660)
        _made(root / "foreign", 1000, 3000, 0o662)
        (root / "team").mkdir()
        _give(root / "team", _NOBODY, 2000)
        (root / "team").chmod(0o2775)
        paths = ["mine", "theirs", "ours", "foreign", "team/new", "team/deep/new"]
        command = [sys.executable, "-c", _WRITING, folder, *paths]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        assert printed == ["ACCESS_DENIED"] * 2 + ["written"] * 4
        yield root


@pytest.mark.req("BF-02")
def test_attributes_and_the_list_of_who_may_use_it_stay(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"old")
    # bob may write it, the group may not: what chmod calls the group's rights are those of the whole list
    listed = _access_list(
        (1, 6, 2**32 - 1), (2, 6, 1000), (4, 0, 2**32 - 1), (16, 6, 2**32 - 1), (32, 0, 2**32 - 1)
    )
    with suppress(OSError):  # not every file system has them
        os.setxattr(file, "user.origin", b"elsewhere")
        os.setxattr(file, _LIST, listed)
    before = _attached(file), _stands(file)
    Workspace(tmp_path).write("a.txt", b"new")
    assert file.read_bytes() == b"new"
    assert (_attached(file), _stands(file)) == before


@pytest.mark.req("BF-02")
def test_root_gives_a_file_back_to_its_owner(tmp_path: Path) -> None:
    _made(tmp_path / "a.txt", 1234, 1235, 0o4640)
    Workspace(tmp_path).write("a.txt", b"new")
    assert _stands(tmp_path / "a.txt") == (*_held(1234, 1235), 0o640)


@pytest.mark.req("BF-02")
def test_a_file_that_we_may_not_write_is_left_as_it_is(shared: Path) -> None:
    assert _stands(shared / "mine") == (*_held(_NOBODY, _NOBODY), 0o444)
    assert _stands(shared / "theirs") == (*_held(0, 0), 0o644 if _ROOT else 0o444)
    assert (shared / "theirs").read_bytes() == b"old"


@pytest.mark.req("BF-02")
def test_the_group_stays_and_where_it_cannot_another_gets_no_more_rights(shared: Path) -> None:
    assert _stands(shared / "ours") == (*_held(_NOBODY, 2000), 0o660)
    assert _stands(shared / "foreign") == (*_held(_NOBODY, _NOBODY), 0o622 if _ROOT else 0o662)


@pytest.mark.req("BF-02")
def test_a_folder_that_gives_its_group_to_its_files_does_so(shared: Path) -> None:
    team = shared / "team"
    assert (team / "new").stat().st_gid == (team / "deep/new").stat().st_gid == team.stat().st_gid
    assert sorted(os.listdir(team)) == ["deep", "new"]
