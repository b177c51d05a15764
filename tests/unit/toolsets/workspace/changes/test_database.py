"""The file that the history lies in: full, removed, of another time, and used by many processes."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from handrail.toolsets.workspace.changes import database
from handrail.toolsets.workspace.changes.database import RetentionLimits
from tests.harness.poll import poll_until
from tests.unit.toolsets.workspace.changes.full_disk import on_a_small_disk
from tests.unit.toolsets.workspace.changes.open_workspace import OpenWorkspace

DB = ".handrail/history/changes.db"


@pytest.mark.req("FC-01", "FC-03")
@pytest.mark.fault("F10", "F20")
def test_a_full_disk_changes_nothing_and_says_so_and_the_history_goes_on_when_there_is_room(
    tmp_path: Path,
) -> None:
    *tried, unmarked = on_a_small_disk(tmp_path)
    assert unmarked == {"ended": [None] * 3, "left": False}
    for one in tried:
        for tool in ("write_file", "undo_file"):
            report = one[tool]
            assert report["changed"] is (report["code"] is None), one
            assert report["code"] is None or (report["code"] == "DISK_FULL" and "full" in report["error"]), (
                one
            )
        assert one["then"] == [True] * 3, one
    ended = {(one["write_file"]["code"], one["undo_file"]["code"]) for one in tried}
    assert {("DISK_FULL", "DISK_FULL"), (None, "DISK_FULL"), (None, None)} <= ended


@pytest.mark.req("FC-03")
async def test_files_are_changed_and_undone_when_somebody_removed_the_folder_of_the_history(
    tmp_path: Path,
) -> None:
    opened = OpenWorkspace(tmp_path)
    opened.put("a.txt", b"1")
    opened.put("a.txt", b"2")
    shutil.rmtree(tmp_path / ".handrail")
    opened.put("b.txt", b"b")
    opened.put("a.txt", b"3")
    beside = OpenWorkspace(tmp_path)
    assert [one.path for one in beside.changes.history("acme")] == ["b.txt", "a.txt"]
    assert (await beside.undo("a.txt")).ok and opened.read("a.txt") == b"2"
    assert (await opened.undo("a.txt")).code == "NOTHING_TO_UNDO"
    opened.close()


@pytest.mark.req("FC-03")
def test_what_happened_in_a_history_that_was_removed_is_not_told_of_another_change(tmp_path: Path) -> None:
    opened, other = OpenWorkspace(tmp_path), OpenWorkspace(tmp_path)
    opened.put("a.txt", b"a")  # marked with the next change
    shutil.rmtree(tmp_path / ".handrail")
    other.changes.record(other.change("b.txt", b"b"))
    opened.put("c.txt", b"c")
    assert [one.path for one in opened.changes.history("acme")] == ["c.txt"]


@pytest.mark.req("FC-03")
@pytest.mark.parametrize(
    ("bounds", "large", "most"),
    [(RetentionLimits(changes=4, every=5), 1, 9), (RetentionLimits(bytes=100_000, every=1_000), 5_000, 14)],
)
def test_the_history_is_bounded_when_each_change_is_made_by_a_process_of_its_own(
    tmp_path: Path, bounds: RetentionLimits, large: int, most: int
) -> None:
    for n in range(18):
        opened = OpenWorkspace(tmp_path, bounds)
        opened.put("a.txt", b"%02d" % n * large)
        opened.close()
    with closing(sqlite3.connect(tmp_path / DB)) as db:
        (rows,) = db.execute("SELECT count(*) FROM changes").fetchone()
        (size,) = db.execute("SELECT sum(length(data)) FROM contents").fetchone()
    assert 2 <= rows <= most and size <= 140_000


@pytest.mark.req("FC-03")
@pytest.mark.parametrize("who", ["one that stays", "many that come and go"])
def test_what_is_written_is_brought_to_its_place_while_others_have_the_history_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    monkeypatch.setattr(database, "_WAL_FULL", 50_000)
    stays = OpenWorkspace(tmp_path)
    stays.put("b.txt", b"b")
    for n in range(20):
        opened = stays if who == "one that stays" else OpenWorkspace(tmp_path)
        opened.put("a.txt", b"%02d" % n * 10_000)
        opened.put("a.txt", None)
        if opened is not stays:
            opened.close()
    poll_until(lambda: (tmp_path / DB).stat().st_size > 200_000)
    assert opened is stays or (tmp_path / f"{DB}-wal").stat().st_size < 200_000


@pytest.mark.req("FC-03")
async def test_what_another_process_forgot_is_kept_again_when_it_is_needed(tmp_path: Path) -> None:
    bounds = RetentionLimits(changes=5, every=5)
    one, other = OpenWorkspace(tmp_path, bounds), OpenWorkspace(tmp_path, bounds)
    one.put("a.txt", b"one")
    assert len(other.changes.history("acme")) == 1
    for n in range(20):
        other.put("b.txt", b"%d" % n)
    one.put("a.txt", b"two")
    assert (await one.undo("a.txt")).ok
    assert one.read("a.txt") == b"one"


@pytest.mark.req("FC-03")
async def test_a_history_from_before_changes_had_owners_goes_on(tmp_path: Path) -> None:
    opened = OpenWorkspace(tmp_path)
    opened.put("a.txt", b"1")
    opened.put("a.txt", b"2")
    opened.close()
    with closing(sqlite3.connect(tmp_path / DB)) as db:
        db.execute("ALTER TABLE changes DROP COLUMN owner")
        db.execute("UPDATE changes SET state = 0 WHERE id = 2")
        db.commit()
    again = OpenWorkspace(tmp_path)
    for held in (b"1", None):
        assert (await again.undo("a.txt")).ok
        assert again.read("a.txt") == held
