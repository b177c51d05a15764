"""edit_file, called as an agent calls it: what it changes, what it answers, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.unit.toolsets.workspace.files.file_caller import open_files


async def test_a_file_is_edited_in_an_encoding_without_a_mark(tmp_path: Path) -> None:
    (tmp_path / "wide.txt").write_bytes("eins\nzwei\n".encode("utf-16-le"))
    async with open_files(tmp_path) as caller:
        code, message = await caller.refused("edit_file", path="wide.txt", search="zwei", replace="2")
        assert (code, "utf-16-le" in message) == ("BINARY_FILE", True)
        for name, word in (("utf-16-le", "zwei"), ("utf-16", "2")):
            await caller.done("edit_file", path="wide.txt", search=word, replace=f"{word}2", encoding=name)
    assert (tmp_path / "wide.txt").read_bytes() == "eins\nzwei22\n".encode("utf-16-le")


@pytest.mark.fault("F20")
async def test_an_edit_changes_no_byte_that_it_did_not_name(tmp_path: Path) -> None:
    twice = b"\xfa\x54 \x87\x90 x\n"  # these characters have another place in this encoding, too
    (tmp_path / "a.txt").write_bytes(twice)
    async with open_files(tmp_path) as caller:
        code, message = await caller.refused(
            "edit_file", path="a.txt", search="x", replace="y", encoding="cp932"
        )
    assert (code, "other bytes" in message) == ("WRONG_ENCODING", True)
    assert (tmp_path / "a.txt").read_bytes() == twice


@pytest.mark.req("BF-03")
@pytest.mark.parametrize("name", ["edit_file", "edit"])
@pytest.mark.parametrize(("search", "replace"), [("search", "replace"), ("old_string", "new_string")])
async def test_a_place_is_edited_and_the_answer_says_where_and_how(
    tmp_path: Path, name: str, search: str, replace: str
) -> None:
    (tmp_path / "a.py").write_text("def f():\n    return 1\n")
    async with open_files(tmp_path) as caller:
        message = await caller.output(name, path="a.py", **{search: "return 1", replace: "return 2"})
        assert message == snapshot(
            "Edited a.py.\nThe edit: at line 2.\n--- a/a.py\n+++ b/a.py\n"
            "@@ -1,2 +1,2 @@\n def f():\n-    return 1\n+    return 2"
        )
    assert (tmp_path / "a.py").read_text() == "def f():\n    return 2\n"


@pytest.mark.req("BF-03")
async def test_the_way_that_matched_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "class A:\n    def f():\n        x = 1  \n        y = 2\n        return x\n"
    )
    async with open_files(tmp_path) as caller:
        data = await caller.done(
            "edit_file", path="a.py", search="def f():\n    x = 1\n", replace="def g():\n    x = 1\n"
        )
        assert data["edits"] == [{"matched": "whitespace", "count": 1, "lines": [2], "kept": []}]
        data = await caller.done(
            "edit_file",
            path="a.py",
            search="    def g():\n        x = 1\n        y = 3\n        return x\n",
            replace="    def g():\n        x = 1\n        y = 3\n        return y\n",
        )
        assert data["edits"] == [{"matched": "anchored", "count": 1, "lines": [2], "kept": ["        y = 2"]}]
    assert (tmp_path / "a.py").read_text() == (
        "class A:\n    def g():\n        x = 1  \n        y = 2\n        return y\n"
    )


@pytest.mark.req("BF-03")
async def test_lines_that_were_remembered_wrongly_and_stay_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def may(u):\n    log(u)\n    if not u.admin:\n        deny(u)\n")
    old = "def may(u):\n    log(u)\n    if u.admin:\n        deny(u)\n"
    async with open_files(tmp_path) as caller:
        message = await caller.output(
            "edit_file", path="a.py", search=old, replace=old.replace("log(u)", "note(u)")
        )
    assert message.splitlines()[1] == (
        "The edit: at line 1, found by its first and last lines. Not as search has it, and left as it is: "
        "`if not u.admin:` (search has `if u.admin:`)."
    )


@pytest.mark.req("BF-03")
async def test_replace_all_beside_the_edits_is_meant_for_each_of_them(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\none\ntwo\n")
    edits = [{"search": "one", "replace": "1"}, {"search": "two", "replace": "2", "replace_all": False}]
    async with open_files(tmp_path) as caller:
        await caller.done("edit_file", path="a.txt", edits=edits, replace_all=True)
    assert (tmp_path / "a.txt").read_text() == "1\n2\n1\n2\n"


@pytest.mark.req("BF-03")
async def test_several_edits_are_all_done_or_none(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\nthree")
    first, second = {"search": "one\ntwo", "replace": "1\n2"}, {"search": "three", "replace": "3\n4"}
    async with open_files(tmp_path) as caller:
        wrong = {"search": "five", "replace": "5"}
        code, message = await caller.refused("edit_file", path="a.txt", edits=[first, second, wrong])
        assert code == "NO_MATCH"
        assert message.startswith("Edit 3 of 3: ")
        assert (tmp_path / "a.txt").read_bytes() == b"\xef\xbb\xbfone\r\ntwo\r\nthree"
        data = await caller.done("edit_file", path="a.txt", edits=[first, second])
        assert [one["lines"] for one in data["edits"]] == [[1], [3]]
        assert (tmp_path / "a.txt").read_bytes() == b"\xef\xbb\xbf1\r\n2\r\n3\r\n4"


@pytest.mark.req("BF-03")
async def test_a_list_of_edits_may_use_the_names_of_other_tools(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two\n")
    edits = [{"old_string": "one", "new_string": "1"}, {"oldString": "two", "newString": "2"}]
    async with open_files(tmp_path) as caller:
        await caller.done("edit_file", path="a.txt", edits=edits)
        await caller.done("edit_file", path="a.txt", old_str="2", new_str="3")
    assert (tmp_path / "a.txt").read_text() == "1 3\n"


async def test_an_empty_search_makes_a_new_file(tmp_path: Path) -> None:
    async with open_files(tmp_path) as caller:
        data = await caller.done("edit_file", path="new/a.txt", search="", replace="one\n")
        assert data["operation"] == "created"
        assert (await caller.refused("edit_file", path="b.txt", search="x", replace="y"))[
            0
        ] == "FILE_NOT_FOUND"
    assert (tmp_path / "new/a.txt").read_text() == "one\n"


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"edits": []},
        {"search": "a", "replace": "b", "edits": [{"search": "a", "replace": "b"}]},
    ],
)
async def test_an_edit_that_says_too_little_or_too_much_is_told_what_to_give(
    tmp_path: Path, given: dict[str, object]
) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    async with open_files(tmp_path) as caller:
        code, message = await caller.refused("edit_file", path="a.txt", **given)
        assert code == "INVALID_EDITS"
        assert "Give either search and replace" in message


async def test_an_edit_without_a_replacement_is_told_how_to_delete(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b\n")
    async with open_files(tmp_path) as caller:
        code, message = await caller.refused("edit_file", path="a.txt", search=" b")
        assert (code, "an empty one deletes it" in message) == ("INVALID_EDITS", True)
        await caller.done("edit_file", path="a.txt", search=" b", replace="")
    assert (tmp_path / "a.txt").read_text() == "a\n"


async def test_binary_files_are_not_edited(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"a\0b")
    async with open_files(tmp_path) as caller:
        assert (await caller.refused("edit_file", path="a.bin", search="a", replace="b"))[0] == "BINARY_FILE"
