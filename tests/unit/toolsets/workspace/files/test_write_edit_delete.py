"""write_file, edit_file and file_delete: what they change, what they keep, and what they tell."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.toolsets.workspace import PathRules
from handrail.toolsets.workspace.atomic_write import stamp_of
from handrail.toolsets.workspace.workspace import JournalEntry
from tests.unit.toolsets.workspace.files.file_caller import open_files


class Remembering:
    """A journal in memory that also says in which order it was told."""

    def __init__(self) -> None:
        self.changes: list[JournalEntry] = []
        self.told: list[str] = []

    def record(self, change: JournalEntry, *, wait: bool = True) -> int:
        self.changes.append(change)
        self.told.append("record")
        return len(self.changes)

    def done(self, number: int) -> None:
        self.told.append(f"done {number}")

    def dropped(self, number: int) -> None:
        self.told.append(f"dropped {number}")


@pytest.mark.req("BF-02")
@pytest.mark.parametrize("name", ["write_file", "write"])
async def test_a_file_is_created_with_its_folders(tmp_path: Path, name: str) -> None:
    async with open_files(tmp_path) as caller:
        assert (
            await caller.output(name, path="src/deep/a.py", content="a = 1\n")
            == "Created src/deep/a.py (1 line)."
        )
        assert (tmp_path / "src/deep/a.py").read_bytes() == b"a = 1\n"


@pytest.mark.req("BF-02")
async def test_a_file_is_overwritten_and_the_answer_has_a_diff(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    async with open_files(tmp_path) as caller:
        message = await caller.output("write_file", path="a.txt", content="one\n2\n")
        assert message == snapshot(
            "Wrote a.txt (+1 -1).\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2"
        )
        assert (tmp_path / "a.txt").read_text() == "one\n2\n"


async def test_what_is_there_already_is_not_written_again(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    before = stamp_of(os.stat(tmp_path / "a.txt"))
    async with open_files(tmp_path) as caller:
        data = await caller.done("write_file", path="a.txt", content="one\n")
        assert data["operation"] == "unchanged"
    assert stamp_of(os.stat(tmp_path / "a.txt")) == before


@pytest.mark.req("BF-02")
async def test_mode_encoding_mark_and_line_ends_stay(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_bytes(b"#!/bin/sh\n")
    script.chmod(0o751)
    (tmp_path / "mark.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    (tmp_path / "wide.txt").write_bytes("one\n".encode("utf-16"))
    async with open_files(tmp_path) as caller:
        await caller.done("write_file", path="run.sh", content="#!/bin/bash\n")
        await caller.done("write_file", path="mark.txt", content="ein\nzwei\ndrei\n")
        await caller.done("write_file", path="wide.txt", content="eins €\n")
    assert script.stat().st_mode & 0o777 == 0o751
    assert (tmp_path / "mark.txt").read_bytes() == b"\xef\xbb\xbfein\r\nzwei\r\ndrei\r\n"
    assert (tmp_path / "wide.txt").read_bytes() == "eins €\n".encode("utf-16")


async def test_another_encoding_and_other_line_ends_come_when_they_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\n")
    async with open_files(tmp_path) as caller:
        await caller.done("write_file", path="a.txt", content="é\n", encoding="latin-1", newline="lf")
        assert (tmp_path / "a.txt").read_bytes() == b"\xe9\n"
        await caller.done("write_file", path="b.txt", content="one\ntwo\n", newline="crlf")
        assert (tmp_path / "b.txt").read_bytes() == b"one\r\ntwo\r\n"


@pytest.mark.req("BF-11")
async def test_an_encoding_that_is_not_known_is_not_changed_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xe9t\xe9\n")
    async with open_files(tmp_path) as caller:
        code, _ = await caller.refused("write_file", path="a.txt", content="été!\n")
        assert code == "WRONG_ENCODING"
        assert (tmp_path / "a.txt").read_bytes() == b"\xe9t\xe9\n"
        await caller.done("write_file", path="a.txt", content="été!\n", encoding="latin-1")
        assert (tmp_path / "a.txt").read_bytes() == b"\xe9t\xe9!\n"
        code, message = await caller.refused("write_file", path="a.txt", content="€\n", encoding="latin-1")
        assert code == "WRONG_ENCODING"
        assert "'€'" in message


async def test_every_write_has_a_diff_whatever_the_file_was(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_bytes(b"caf\xe9\nb\n")
    (tmp_path / "data").write_bytes(b"\0\1\2")
    async with open_files(tmp_path) as caller:
        told = [
            await caller.done("write_file", path="new.txt", content="a\n"),
            await caller.done("write_file", path="old.txt", content="b\n"),
            await caller.done("write_file", path="data", content="text\n"),
            await caller.done("file_delete", path="old.txt"),
            await caller.done("file_delete", path="data"),
        ]
    assert [one["diff"].split("\n", 3) for one in told] == [
        ["--- /dev/null", "+++ b/new.txt", "@@ -0,0 +1 @@", "+a"],
        ["--- a/old.txt", "+++ b/old.txt", "@@ -1,2 +1 @@", "-café\n b"],
        ["--- a/data", "+++ b/data", "@@ -0,0 +1 @@", "+text"],
        ["--- a/old.txt", "+++ /dev/null", "@@ -1 +0,0 @@", "-b"],
        ["--- a/data", "+++ /dev/null", "@@ -1 +0,0 @@", "-text"],
    ]


async def test_a_mark_is_neither_added_nor_turned_by_the_name_of_an_encoding(tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_bytes(b"one\n")
    (tmp_path / "mark.txt").write_bytes(b"\xef\xbb\xbfone\n")
    (tmp_path / "big.txt").write_bytes("\ufeffone\n".encode("utf-16-be"))
    async with open_files(tmp_path) as caller:
        await caller.done("edit_file", path="plain.txt", search="one", replace="1", encoding="utf-8-sig")
        await caller.done("write_file", path="mark.txt", content="1\n", encoding="utf-8-sig")
        await caller.done("write_file", path="big.txt", content="1\n", encoding="utf-16")
    assert (tmp_path / "plain.txt").read_bytes() == b"1\n"
    assert (tmp_path / "mark.txt").read_bytes() == b"\xef\xbb\xbf1\n"
    assert (tmp_path / "big.txt").read_bytes() == "\ufeff1\n".encode("utf-16-be")


@pytest.mark.req("BF-10")
async def test_folders_and_protected_files_are_not_written(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config").write_text("[core]\n")
    (tmp_path / "handrail.toml").write_text("x = 1\n")
    (tmp_path / "data.db").write_text("secret\n")
    (tmp_path / "policy.toml").symlink_to("elsewhere.toml")
    (tmp_path / "elsewhere.toml").write_text("y = 1\n")
    path_rules = PathRules(protected=("handrail.toml", "policy.toml"), hidden=("data.db",))
    async with open_files(tmp_path, path_rules) as caller:
        for path, code in [
            (".", "NOT_A_FILE"),
            ("new/", "NOT_A_FILE"),
            (".git/config", "PROTECTED_PATH"),
            (".git/hooks/pre-commit", "PROTECTED_PATH"),
            ("handrail.toml", "PROTECTED_PATH"),
            ("policy.toml", "PROTECTED_PATH"),
            ("data.db", "FILE_NOT_FOUND"),
            (".handrail/drafts/x", "FILE_NOT_FOUND"),
        ]:
            assert (await caller.refused("write_file", path=path, content="x"))[0] == code, path
        assert (await caller.refused("file_delete", path="handrail.toml"))[0] == "PROTECTED_PATH"
        assert (await caller.refused("edit_file", path="handrail.toml", search="1", replace="2"))[
            0
        ] == "PROTECTED_PATH"
    assert not (tmp_path / ".git/hooks").exists()
    assert (tmp_path / "data.db").read_text() == "secret\n"


async def test_what_is_too_large_is_not_written(tmp_path: Path) -> None:
    async with open_files(tmp_path) as caller:
        assert (await caller.refused("write_file", path="a.txt", content="x" * 10_000_001))[0] == "TOO_LARGE"
        assert (await caller.refused("write_file", path="a.txt", content="€" * 4_000_000))[0] == "TOO_LARGE"
    assert not (tmp_path / "a.txt").exists()


@pytest.mark.req("BF-09")
async def test_a_file_is_deleted_and_a_folder_is_not(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.txt").write_text("one\n")
    async with open_files(tmp_path) as caller:
        assert (await caller.refused("file_delete", path="src"))[0] == "NOT_A_FILE"
        assert (await caller.done("file_delete", path="src/a.txt"))["operation"] == "deleted"
        assert (await caller.refused("file_delete", path="src/a.txt"))[0] == "FILE_NOT_FOUND"
    assert (tmp_path / "src").is_dir()
    assert not (tmp_path / "src/a.txt").exists()


async def test_a_link_is_not_taken_for_the_file_it_leads_to_when_it_is_deleted(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/ä.txt").write_text("one\n")
    (tmp_path / "link").symlink_to("src/ä.txt")
    (tmp_path / "folder").symlink_to("src")
    async with open_files(tmp_path) as caller:
        for path in ("link", "./link", str(tmp_path / "link"), "folder/../link"):
            code, message = await caller.refused("file_delete", path=path)
            assert code == "NOT_A_FILE" and "is a link to src/ä.txt. Nothing was deleted." in message
        assert (tmp_path / "src/ä.txt").exists()
        assert (await caller.done("file_delete", path="folder/ä.txt"))["path"] == "src/ä.txt"
    assert (tmp_path / "link").is_symlink() and not (tmp_path / "src/ä.txt").exists()


@pytest.mark.req("BF-02")
@pytest.mark.parametrize(
    ("held", "content", "after"),
    [
        (b"caf\xe9\r\nb\r\n", "cafe\nb\n", b"cafe\r\nb\r\n"),
        (b"\xef\xbb\xbfold\n", "\ufeffnew\n", b"\xef\xbb\xbfnew\n"),
    ],
    ids=["line ends of an encoding that is not known", "one byte order mark"],
)
async def test_what_was_not_asked_for_stays_as_the_file_has_it(
    tmp_path: Path, held: bytes, content: str, after: bytes
) -> None:
    (tmp_path / "a.txt").write_bytes(held)
    async with open_files(tmp_path) as caller:
        await caller.done("write_file", path="a.txt", content=content)
    assert (tmp_path / "a.txt").read_bytes() == after


@pytest.mark.req("BF-02")
async def test_the_journal_is_told_of_the_bytes_before_they_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\r\n")
    (tmp_path / "a.txt").chmod(0o640)
    journal = Remembering()
    async with open_files(tmp_path) as caller:
        caller.workspace.journal = journal
        await caller.done("write_file", path="a.txt", content="two\n")
        await caller.done("edit_file", path="./a.txt", search="two", replace="three")
        await caller.done("write_file", path="x/y/b.txt", content="new\n")
        await caller.done("file_delete", path="a.txt")
        await caller.refused("write_file", path=".git/config", content="x")
        await caller.refused("edit_file", path="x/y/b.txt", search="nothing", replace="x")
    told = [(one.operation, one.path, one.before, one.after, one.mode_before) for one in journal.changes]
    assert told == [
        ("write", "a.txt", b"one\r\n", b"two\r\n", 0o640),
        ("edit", "a.txt", b"two\r\n", b"three\r\n", 0o640),
        ("create", "x/y/b.txt", None, b"new\n", None),
        ("delete", "a.txt", b"three\r\n", None, 0o640),
        ("create", ".git/config", None, b"x", None),
    ]
    assert journal.changes[2].made_folders == ("x", "x/y")
    assert journal.changes[0].tenant == "acme"
    assert [one for one in journal.told if one != "record"] == [
        "done 1",
        "done 2",
        "done 3",
        "done 4",
        "dropped 5",
    ]


async def test_a_file_that_changed_since_it_was_read_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\n")

    class Meddling(Remembering):
        def record(self, change: JournalEntry, *, wait: bool = True) -> int:
            (tmp_path / "a.txt").write_bytes(b"somebody else\n")
            return super().record(change)

    several = [{"search": "one", "replace": "1"}, {"search": "1", "replace": "2"}]
    async with open_files(tmp_path) as caller:
        caller.workspace.journal = journal = Meddling()
        assert (await caller.refused("edit_file", path="a.txt", edits=several))[0] == "CHANGED_MEANWHILE"
        assert journal.told == ["record", "dropped 1"]
        (tmp_path / "a.txt").unlink()
        assert (await caller.refused("write_file", path="a.txt", content="new"))[0] == "CHANGED_MEANWHILE"
    assert (tmp_path / "a.txt").read_bytes() == b"somebody else\n"


async def test_one_short_edit_is_sought_again_in_a_file_that_changed_since_it_was_read(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\n")

    class Meddling(Remembering):
        def record(self, change: JournalEntry, *, wait: bool = True) -> int:
            if not self.changes:
                (tmp_path / "a.txt").write_bytes(b"zero\none\n")
            return super().record(change, wait=wait)

    async with open_files(tmp_path) as caller:
        caller.workspace.journal = journal = Meddling()
        await caller.done("edit_file", path="a.txt", search="one", replace="1")
        assert [one.before for one in journal.changes] == [b"one\n", b"zero\none\n"]
        assert journal.told == ["record", "dropped 1", "record", "done 2"]
    assert (tmp_path / "a.txt").read_bytes() == b"zero\n1\n"


async def test_a_link_inside_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a.txt").write_text("one\n")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "short").symlink_to("real/a.txt")
    async with open_files(tmp_path) as caller:
        data = await caller.done("edit_file", path="short", search="one", replace="two")
        assert data["path"] == "real/a.txt"
        assert (await caller.done("write_file", path="link/new/b.txt", content="b"))[
            "path"
        ] == "real/new/b.txt"
        assert (await caller.refused("write_file", path="gone/../b.txt", content="b"))[0] == "FILE_NOT_FOUND"
    assert (tmp_path / "short").is_symlink()
    assert (tmp_path / "real/a.txt").read_text() == "two\n"
    assert not (tmp_path / "gone").exists()
