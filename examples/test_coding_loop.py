"""How an agent's loop and its tools are tested: a scripted model, a scripted reviewer, a real folder."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from examples.coding_loop import tools
from examples.coding_loop.loop import work
from examples.coding_loop.model import (
    READ_MODULE,
    READ_TESTS,
    REPAIR,
    RUN_TESTS,
    SCRIPT,
    Reply,
    ScriptedModel,
)
from examples.coding_loop.project import FILES, lay_out
from handrail import Call, Handrail, Outcome, Principal
from handrail.testing import ConformanceCase, ScriptedApprover, conformance_cases, events

CODER = Principal(tenant="acme", user="ana", agent="coder")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lay_out(tmp_path)
    return tmp_path


def at_work(folder: Path, *answers: Any) -> Handrail:
    return Handrail(
        [tools],
        approver=ScriptedApprover(*answers),
        create_context=lambda tool, call_id: {"folder": folder},
    )


def call(folder: Path, name: str, args: dict[str, Any], *answers: Any) -> Outcome:
    async def once() -> Outcome:
        async with at_work(folder, *answers) as hr:
            return await hr.call(name, args, principal=CODER)

    return asyncio.run(once())


def play(folder: Path, script: Any, *answers: Any, most: int = 20) -> tuple[str, ScriptedModel, list[str]]:
    """Why the loop ended, the model with what it was given, and the bodies that ran."""

    async def loop() -> tuple[str, ScriptedModel, list[str]]:
        model = ScriptedModel(script)
        async with at_work(folder, *answers) as hr:
            ended = await work(hr, model, "Repair it.", CODER, "s1", lambda line: None, most)
            ran = [event.tool for event in events(hr, "acme", session="s1") if event.kind == "started"]
        return ended, model, ran

    return asyncio.run(loop())


@pytest.mark.parametrize("case", conformance_cases([tools], strict=True))
def test_every_tool_is_conformant(case: ConformanceCase) -> None:
    case()


def test_the_bug_is_repaired_and_what_was_done_before_is_not_done_again(folder: Path) -> None:
    ended, model, ran = play(folder, SCRIPT, True)

    assert ended == "all_tools_duplicate"
    assert sorted(ran[:3]) == ["file_list", "file_read", "file_read"]
    assert ran[3:] == ["tests_run", "file_edit", "tests_run", "file_read"]
    assert "price * (1 - percent / 100)" in (folder / "prices.py").read_text()
    assert model.offered == ["file_edit", "file_list", "file_read", "tests_run"]


def test_the_next_prompt_holds_what_came_of_the_calls(folder: Path) -> None:
    _, model, _ = play(folder, SCRIPT, True)

    assert model.prompts[0] == "Repair it."
    assert all(text in model.prompts[1] for text in FILES.values())
    assert "AssertionError: 190 != 180" in model.prompts[2]
    assert "prices.py is changed." in model.prompts[3]
    assert '"passed":true' in model.prompts[4] and '"passed":true' not in model.prompts[3]


def test_a_no_goes_back_to_the_model_and_nothing_is_changed(folder: Path) -> None:
    ended, model, ran = play(folder, [Reply("I repair it.", (REPAIR,)), Reply("Then not.")], False)

    assert (ended, ran) == ("done", [])
    assert "A person rejected file_edit." in model.prompts[1]
    assert (folder / "prices.py").read_text() == FILES["prices.py"]


def test_a_failure_goes_back_to_the_model_and_disturbs_no_other_call(folder: Path) -> None:
    wrong = ("file_read", {"path": "price.py"})
    ended, model, _ = play(folder, [Reply("I look.", (wrong, READ_MODULE)), Reply("I see.")])

    assert ended == "done"
    assert "There is no price.py. Look with file_list." in model.prompts[1]
    assert FILES["prices.py"] in model.prompts[1]


def test_a_model_that_never_ends_is_stopped(folder: Path) -> None:
    passes = (Reply("More.", (("file_list", {"suffix": str(number)}),)) for number in range(100))

    assert play(folder, passes, most=3)[0] == "too_many_passes"


async def groups(folder: Path, calls: list[tuple[str, dict[str, Any]]]) -> list[int]:
    async with at_work(folder) as hr:
        groups = await hr.batches([Call(name, args, CODER) for name, args in calls])
    return [len(group.calls) for group in groups]


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([("file_list", {}), READ_MODULE, READ_TESTS], [3]),
        ([READ_TESTS, REPAIR], [2]),
        ([READ_MODULE, REPAIR, READ_MODULE], [1, 1, 1]),
        ([("file_list", {}), REPAIR], [1, 1]),
        ([("file_read", {"path": "./a/../prices.py"}), REPAIR], [1, 1]),
        ([READ_MODULE, RUN_TESTS, READ_MODULE], [1, 1, 1]),
    ],
    ids=["reads", "another file", "the same file", "a listing", "another spelling", "a test run"],
)
def test_what_overlaps_follows_from_what_is_touched(folder: Path, calls: Any, expected: list[int]) -> None:
    assert asyncio.run(groups(folder, calls)) == expected


def test_file_list_names_files_that_end_so(folder: Path) -> None:
    (folder / "notes.txt").touch()

    assert call(folder, "file_list", {}).result.data == ["notes.txt", "prices.py", "test_prices.py"]
    assert call(folder, "file_list", {"suffix": ".txt"}).result.data == ["notes.txt"]


def test_file_read_gives_the_text(folder: Path) -> None:
    assert call(folder, "file_read", {"path": "prices.py"}).to_model() == FILES["prices.py"]


def test_file_edit_waits_for_a_person(folder: Path) -> None:
    out = call(folder, *REPAIR, None)

    assert (out.status, out.code) == ("pending", "NEEDS_APPROVAL")
    assert (folder / "prices.py").read_text() == FILES["prices.py"]


@pytest.mark.parametrize(("old", "count"), [("price", 3), ("cost", 0)])
def test_file_edit_changes_only_what_stands_there_once(folder: Path, old: str, count: int) -> None:
    out = call(folder, "file_edit", {"path": "prices.py", "old": old, "new": "x"}, True)

    assert out.code == "NOT_ONCE" and f"stands {count} times" in (out.result.error or "")
    assert (folder / "prices.py").read_text() == FILES["prices.py"]


@pytest.mark.parametrize("path", ["../secret.txt", "/etc/passwd", "link/secret.txt"])
@pytest.mark.parametrize("name", ["file_read", "file_edit"])
def test_no_tool_leaves_the_project(tmp_path: Path, name: str, path: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (project / "link").symlink_to(tmp_path)
    more = {"old": "secret", "new": "public"} if name == "file_edit" else {}

    out = call(project, name, {"path": path, **more}, *([True] if more else []))

    assert out.code == "OUTSIDE"
    assert (tmp_path / "secret.txt").read_text() == "secret"


def test_tests_run_tells_what_failed_and_leaves_nothing_behind(folder: Path) -> None:
    out = call(folder, "tests_run", {"verbose": True})

    assert out.result.data["passed"] is False
    assert "test_nothing_off" in out.result.data["report"]
    assert out.result.to_ui() == "they fail: AssertionError: 190 != 180"
    assert sorted(file.name for file in folder.iterdir()) == sorted(FILES)


def test_a_test_run_that_is_cancelled_ends_its_process(folder: Path) -> None:
    begun = folder / "begun"
    os.mkfifo(begun)
    (folder / "test_hangs.py").write_text(
        f"import os, signal\nopen({str(begun)!r}, 'w').write(str(os.getpid()))\nsignal.pause()\n"
    )

    async def cancelled() -> tuple[Outcome, int]:
        async with at_work(folder) as hr:
            run = asyncio.create_task(hr.call("tests_run", {}, principal=CODER, id="c1"))
            process = int(await asyncio.to_thread(begun.read_text))
            await hr.cancel("c1")
            return await run, process

    out, process = asyncio.run(cancelled())

    assert out.status == "cancelled"
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
