"""Approvals answered at a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.forked_cli import Terminal

ASK = "[a]pprove / [r]eject / [e]dit: "
DROP = ["run", "stock.drop", "--item", "bolt"]


@pytest.mark.req("AP-02", "AP-04")
def test_the_person_sees_what_will_run_and_says_yes(tmp_path: Path) -> None:
    terminal = Terminal(*DROP, cwd=tmp_path)
    terminal.until(ASK)
    for part in (
        "You want to run stock.drop",
        "Throw all pieces of an item away.",
        "level   destructive",
        "danger  dangerous",
        "why     Needs confirmation: it is dangerous",
        'item = "bolt"',
    ):
        assert part in terminal.shown
    terminal.type("a")
    assert terminal.end() == 0
    assert "bolt is gone." in terminal.shown


@pytest.mark.req("AP-02")
def test_a_no_with_a_reason_is_a_rejection(tmp_path: Path) -> None:
    terminal = Terminal(*DROP, "--trace", "ran.txt", cwd=tmp_path)
    terminal.until(ASK)
    terminal.type("r")
    terminal.until("Why? (nothing for no reason): ")
    terminal.type("not today")
    assert terminal.end() == 5
    assert "refused REJECTED: A person rejected stock.drop: not today" in terminal.shown
    assert not (tmp_path / "ran.txt").exists()


def test_edited_arguments_are_shown_again_and_are_what_runs(tmp_path: Path) -> None:
    terminal = Terminal(*DROP, cwd=tmp_path)
    terminal.until(ASK)
    terminal.type("e")
    terminal.until("> ")
    terminal.type("--item 'old nuts'")
    terminal.until('item = "old nuts"')
    terminal.until(ASK)
    terminal.type("approve")
    assert terminal.end() == 0
    assert "old nuts is gone." in terminal.shown


def test_an_edit_may_be_the_whole_arguments_as_json(tmp_path: Path) -> None:
    terminal = Terminal(*DROP, "--trace", "ran.txt", cwd=tmp_path)
    terminal.until(ASK)
    terminal.type("e")
    terminal.until("> ")
    terminal.type('{"item": "nut"}')
    terminal.until(ASK)
    terminal.type("a")
    assert terminal.end() == 0
    assert "nut is gone." in terminal.shown
    assert not (tmp_path / "ran.txt").exists()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("--itm x", "--itm is no flag here. did you mean --item?"),
        ("--item:=5 --item:=6", "--item is given twice. keep one of them"),
        ("--json", "--json is no flag of the tool. only its arguments can be changed here"),
        ("--item 'open", "a quote is left open"),
        ("--item:=[]", "item: should be a valid string"),
        ("{'a'", "the arguments: it is not JSON"),
        ("{}", "item: is required"),
        ("", ASK),
    ],
)
def test_an_edit_that_cannot_be_is_told_and_asked_again(tmp_path: Path, typed: str, said: str) -> None:
    terminal = Terminal(*DROP, cwd=tmp_path)
    terminal.until(ASK)
    terminal.type("e")
    terminal.until("> ")
    terminal.type(typed)
    terminal.until(said)
    if said != ASK:
        terminal.until(ASK)
    terminal.type("a")
    assert terminal.end() == 0
    assert "bolt is gone." in terminal.shown


def test_any_other_word_is_asked_again(tmp_path: Path) -> None:
    terminal = Terminal(*DROP, cwd=tmp_path)
    terminal.until(ASK)
    terminal.type("yes")
    terminal.until("Type a, r or e; Ctrl-C cancels the call.")
    terminal.until(ASK)
    terminal.type("r")
    terminal.type("")
    assert terminal.end() == 5


def test_the_person_reviews_what_an_agent_wants(tmp_path: Path) -> None:
    words = ["run", "stock.order", "--item=nut", "--pieces=2.0", "--as", "agent:clerk"]
    terminal = Terminal(*words, cwd=tmp_path)
    terminal.until(ASK)
    assert "agent clerk wants to run stock.order" in terminal.shown
    assert "why     Needs approval: it changes real data" in terminal.shown
    assert 'repaired pieces: "2.0" became 2 (text as number)' in terminal.shown
    assert "would change\n2 more of nut on the shelf" in terminal.shown
    terminal.type("a")
    assert terminal.end() == 0


@pytest.mark.req("PM-04")
def test_with_yes_a_destructive_call_of_an_agent_still_asks(tmp_path: Path) -> None:
    terminal = Terminal(*DROP, "--as", "agent", "--yes", cwd=tmp_path)
    terminal.until(ASK)
    terminal.type("a")
    assert terminal.end() == 0


def test_nobody_confirms_alone_what_a_rule_asks_for(tmp_path: Path) -> None:
    (tmp_path / "handrail.toml").write_text('[[policy.rules]]\ntool = "stock.count"\n')
    terminal = Terminal("run", "stock.count", "--item=a", cwd=tmp_path)
    assert terminal.end() == 4
    assert "[a]pprove" not in terminal.shown


def test_the_arguments_are_shown_character_by_character(tmp_path: Path) -> None:
    terminal = Terminal("run", "stock.drop", "--item", "a\u202eb\x1b[2J\u200bc\n日本", cwd=tmp_path)
    terminal.until(ASK)
    assert r'item = "a\u202eb\u001b[2J\u200bc\n' + '\n      日本"' in terminal.shown
    assert "\x1b[2J" not in terminal.raw
    terminal.type("r")
    terminal.type("")
    assert terminal.end() == 5


def test_a_long_argument_is_shown_to_its_end(tmp_path: Path) -> None:
    terminal = Terminal("run", "stock.drop", "--item", "x" * 2000 + "THE_END", cwd=tmp_path)
    terminal.until(ASK)
    assert "x" * 2000 + "THE_END" in "".join(terminal.shown.split())
    terminal.type("r")
    terminal.type("")
    assert terminal.end() == 5


def test_ctrl_c_at_the_prompt_cancels_the_call(tmp_path: Path) -> None:
    terminal = Terminal(*DROP, "--trace", "ran.txt", cwd=tmp_path)
    terminal.until(ASK)
    terminal.interrupt()
    assert terminal.end() == 130
    assert "cancelled CANCELLED: Cancelled: Ctrl-C." in terminal.shown
    assert not (tmp_path / "ran.txt").exists()


def test_the_end_of_the_input_leaves_the_call_pending(tmp_path: Path) -> None:
    terminal = Terminal(*DROP, cwd=tmp_path)
    terminal.until(ASK)
    terminal.type("\x04")
    assert terminal.end() == 4


def test_the_question_is_asked_on_the_terminal_when_the_answer_goes_into_a_pipe(tmp_path: Path) -> None:
    terminal = Terminal(*DROP, cwd=tmp_path, into="answer.txt")
    terminal.until(ASK)
    terminal.type("a")
    assert terminal.end() == 0
    assert (tmp_path / "answer.txt").read_text() == "bolt is gone.\n"


def test_spaces_in_an_argument_are_all_there(tmp_path: Path) -> None:
    item = "wide " * 30 + " " * 7 + "end"
    terminal = Terminal("run", "stock.drop", "--item", item, cwd=tmp_path, columns=40)
    terminal.until(ASK)
    written_out = "wide " * 29 + "wide" + "\\u0020" * 8 + "end"
    assert f'item = "{written_out}"' in terminal.shown
    terminal.type("r")
    terminal.type("")
    assert terminal.end() == 5


PAINTER = '''
import asyncio
from pathlib import Path

from handrail import Context, tool


@tool("paint.wall", level="write")
async def wall(colour: str) -> str:
    """Paint one wall."""
    return f"painted {colour}"


@tool("paint.room", level="read")
async def room(*, ctx: Context) -> list[str]:
    """Paint two walls at once."""
    walls = [ctx.call("paint.wall", {"colour": colour}) for colour in ("red", "blue")]
    return [one.result.data or one.code for one in await asyncio.gather(*walls)]


@tool("paint.slowly", level="read")
async def slowly(*, ctx: Context) -> str:
    """Mix the paint, then paint one wall."""
    ctx.append_output("mixing\\n")
    while not Path("typed").exists():
        await asyncio.sleep(0.01)
    return (await ctx.call("paint.wall", {"colour": "red"})).status
'''


@pytest.fixture
def painter(tmp_path: Path) -> Path:
    (tmp_path / "painter.py").write_text(PAINTER)
    return tmp_path


@pytest.mark.req("AP-02")
def test_two_calls_at_once_are_asked_about_one_after_the_other(painter: Path) -> None:
    terminal = Terminal("run", "--as", "agent", "--tools", "painter.py", "paint.room", cwd=painter)
    terminal.until(ASK)
    assert 'colour = "red"' in terminal.shown and "blue" not in terminal.shown
    terminal.type("a")
    terminal.until('colour = "blue"')
    terminal.until(ASK)
    terminal.type("r")
    terminal.until("Why? (nothing for no reason): ")
    terminal.type("")
    assert terminal.end() == 0
    assert "- painted red\n- REJECTED" in terminal.shown


@pytest.mark.req("AP-02")
def test_what_was_typed_before_the_question_is_no_answer(painter: Path) -> None:
    terminal = Terminal("run", "--as", "agent", "--tools", "painter.py", "paint.slowly", cwd=painter)
    terminal.until("mixing")
    terminal.type("a")
    terminal.until("a\r\n")
    (painter / "typed").touch()
    terminal.until(ASK)
    terminal.type("r")
    terminal.until("Why? (nothing for no reason): ")
    terminal.type("")
    assert terminal.end() == 0 and "refused" in terminal.shown
