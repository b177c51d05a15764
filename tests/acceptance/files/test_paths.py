"""Nothing outside the workspace is read or changed by the file tools, whatever a path says or becomes."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from tests.unit.toolsets.workspace.files.file_caller import FileCaller, open_files

SECRET = "outside: nobody may read this\n"
ROUNDS = 24
"""`make soak` has more."""
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("read_file", {}),
    ("write_file", {"content": "changed"}),
    ("edit_file", {"search": "outside", "replace": "changed"}),
    ("edit_file", {"search": "", "replace": "changed"}),
    ("file_delete", {}),
    ("get_file_info", {}),
]


def furnished(place: Path) -> Path:
    """A workspace, and what lies around it."""
    (place / "root/src").mkdir(parents=True)
    (place / "root-evil").mkdir()
    for path in ("secret", "root-evil/secret"):
        (place / path).write_text(SECRET)
    (place / "root/src/a.txt").write_text("inside\n")
    return place / "root"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return furnished(tmp_path)


def _outside(root: Path) -> dict[str, Any]:
    """All that lies around the workspace."""
    found: dict[str, Any] = {}
    for folder, names, files in os.walk(root.parent):
        if folder == str(root.parent):
            names.remove("root")
        for name in files:
            path = Path(folder, name)
            found[str(path)] = (path.read_bytes(), os.stat(path).st_mtime_ns, os.stat(path).st_nlink)
        found[folder] = sorted(names + files)
    return found


async def _try_all(caller: FileCaller, path: str) -> set[str | None]:
    """Call every tool with the path; the codes they answer with. None of them tells the secret."""
    codes = set()
    for name, args in CALLS:
        outcome = await caller.call(name, path=path, **args)
        told = outcome.to_model() + repr(outcome.result)
        assert "nobody may read this" not in told, (name, path)
        codes.add(outcome.code)
    return codes


@pytest.mark.req("BF-10")
@pytest.mark.fault("F19")
@pytest.mark.parametrize(
    "path",
    [
        "../secret",
        "src/../../secret",
        "../root-evil/secret",
        "{root}-evil/secret",
        "{root}/../secret",
        "/etc/passwd",
        "/proc/self/environ",
        "/proc/self/root/etc/passwd",
        "//etc/passwd",
        "out",
        "out-folder/secret",
        "absolute",
        "chain",
        "magic/etc/passwd",
        "magic-cwd/secret",
        "src/../out",
    ],
)
async def test_paths_that_lead_out_are_refused(root: Path, path: str) -> None:
    (root / "out").symlink_to("../secret")
    (root / "out-folder").symlink_to("../root-evil")
    (root / "absolute").symlink_to(root.parent / "secret")
    (root / "chain").symlink_to("src/chain")
    (root / "src/chain").symlink_to("../out")
    (root / "magic").symlink_to("/proc/self/root")
    (root / "magic-cwd").symlink_to("/proc/self/cwd")
    before = _outside(root)
    async with open_files(root) as caller:
        assert await _try_all(caller, path.format(root=root)) == {"OUTSIDE_WORKSPACE"}
    assert _outside(root) == before


@pytest.mark.fault("F19")
@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a\0b", "INVALID_PATH"),
        ("../secret\0.txt", "INVALID_PATH"),
        ("-rf", "INVALID_PATH"),
        ("--help", "INVALID_PATH"),
        ("~/.bashrc", "INVALID_PATH"),
        ("", "INVALID_PATH"),
        ("x" * 256, "INVALID_PATH"),
        ("x/" * 3_000, "INVALID_PATH"),
        ("loop", "INVALID_PATH"),
    ],
)
async def test_paths_that_are_none_are_refused(root: Path, path: str, code: str) -> None:
    (root / "loop").symlink_to("loop")
    before = _outside(root)
    async with open_files(root) as caller:
        assert await _try_all(caller, path) == {code}
    assert _outside(root) == before


@pytest.mark.fault("F19")
async def test_odd_names_inside_are_only_names(root: Path) -> None:
    names = ["./-rf", "src/--help", "a b\tc", "näme.txt", "e\u0301.txt", "*", "$(id)", "a;b", "~", "..."]
    async with open_files(root) as caller:
        for name in names:
            await caller.done("write_file", path=name, content=f"{name}\n")
        for name in names:
            assert (await caller.done("read_file", path=name))["content"] == name
        for name in names:
            await caller.done("file_delete", path=name)
    assert sorted(os.listdir(root)) == [".handrail", "src"]


@pytest.mark.fault("F19")
async def test_names_that_differ_in_case_are_two_files_that_wait_for_each_other(root: Path) -> None:
    async with open_files(root) as caller:
        await caller.done("write_file", path="Name.txt", content="upper\n")
        await caller.done("write_file", path="name.txt", content="lower\n")
        assert (await caller.done("read_file", path="Name.txt"))["content"] == "upper"
        assert caller.workspace.key("Name.txt") == caller.workspace.key("name.txt")


@pytest.mark.fault("F19")
async def test_names_that_are_no_unicode_disturb_nobody(root: Path) -> None:
    os.close(os.open(os.fsencode(root) + b"/\xff\xfe", os.O_CREAT | os.O_WRONLY))
    async with open_files(root) as caller:
        assert (await caller.done("get_file_info", path="."))["entries"] == 2
        assert await _try_all(caller, "\udcff\udcfe") <= {"INVALID_PATH", "INVALID_PARAM"}


@pytest.mark.fault("F19")
async def test_a_second_name_of_an_outside_file_is_refused(root: Path) -> None:
    os.link(root.parent / "secret", root / "twin")
    before = _outside(root)
    async with open_files(root) as caller:
        codes = await _try_all(caller, "twin")
        assert codes == {"SEVERAL_LINKS", None}  # that it is there may be told
        info = await caller.done("get_file_info", path="twin")
        assert info["lines"] is None
    assert _outside(root) == before


@pytest.mark.fault("F19")
async def test_pipes_sockets_and_devices_are_refused_without_waiting(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(root / "socket"))
        kinds = ["pipe", "socket"]
        with suppress(PermissionError):
            os.mknod(root / "zero", 0o20666, os.makedev(1, 5))
            kinds.append("zero")
        async with open_files(root) as caller:
            for name in kinds:
                for tool, args in CALLS[:-1]:
                    code, _ = await caller.refused(tool, path=name, **args)
                    assert code in ("NOT_A_FILE", "FILE_ERROR"), (tool, name)
                assert (await caller.done("get_file_info", path=name))["type"] == "other"


@contextmanager
def swapping(path: Path, *targets: str) -> Iterator[None]:
    """A thread that makes a path a link to one target after the other."""
    over = threading.Event()
    spare = path.with_name(f"{path.name}-spare")

    def swap() -> None:
        for target in cycle(targets):
            if over.is_set():
                return
            spare.unlink(missing_ok=True)
            spare.symlink_to(target)
            os.replace(spare, path)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.fault("F19")
async def test_a_link_that_is_swapped_during_the_call_leads_nowhere_else(root: Path) -> None:
    await swapped_links_lead_nowhere_else(root, ROUNDS)


async def swapped_links_lead_nowhere_else(root: Path, rounds: int) -> None:
    """Every tool is called again and again while the links that it is given change."""
    (root / "safe").mkdir()
    (root / "safe/secret").write_text("inside\n")
    (root / "file").symlink_to("safe/secret")
    (root / "folder").symlink_to("safe")
    before = _outside(root)
    reached = 0
    async with open_files(root) as caller:
        with (
            swapping(root / "folder", "safe", "../root-evil"),
            swapping(root / "file", "safe/secret", "../secret"),
        ):
            for nth in range(rounds):
                path = ("folder/secret", "file", "folder/new.txt")[nth % 3]
                codes = await _try_all(caller, path)
                reached += None in codes
                (root / "safe/secret").write_text("inside\n")
                assert _outside(root) == before
    assert reached > 0
