"""What a terminal shows: narrow ones too, colours only where they are wanted, never a tool's own escapes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.acceptance.forked_cli import Terminal, shop

ESCAPE = re.compile(r"\x1b(?!\[[0-9;]*m)|\x9b|\u202e")
"""Any escape sequence but a colour, and what else must not reach a terminal."""


def at(columns: int, *words: str, cwd: Path, **env: str) -> Terminal:
    terminal = Terminal(*words, cwd=cwd, columns=columns, **env)
    assert terminal.end() == 0
    return terminal


@pytest.mark.parametrize(
    "words",
    [
        ["tools", "evil"],
        ["show", "words.evil"],
        ["run", "words.evil"],
        ["run", "words.evil", "--json"],
        ["run", "words.evil", "--help"],
        ["policy", "explain", "words.evil"],
    ],
)
def test_nothing_a_tool_says_steers_the_terminal(tmp_path: Path, words: list[str]) -> None:
    assert not ESCAPE.search(at(100, *words, cwd=tmp_path).raw)


@pytest.mark.parametrize("words", [["tools", "evil"], ["run", "words.evil"], ["run", "words.evil", "--json"]])
def test_nor_does_it_through_a_pipe(tmp_path: Path, words: list[str]) -> None:
    done = shop(*words, cwd=tmp_path)
    assert not re.search(r"[\x1b\x9b\u202e]", done.out + done.err)


def test_an_error_that_names_an_argument_writes_it_out(tmp_path: Path) -> None:
    terminal = Terminal("run", "stock.order", "--item=a", "--pieces=\x1b[2J", cwd=tmp_path)
    assert terminal.end() == 2
    assert not ESCAPE.search(terminal.raw)
    terminal = Terminal("run", "words.echo", "--\x1b[2J", "x", cwd=tmp_path)
    assert terminal.end() == 2
    assert not ESCAPE.search(terminal.raw)


def test_markup_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    shown = at(100, "run", "words.evil", "--text", "[blink]x[/blink]", cwd=tmp_path).shown
    assert "summary [bold][blink]x[/blink][/bold]" in shown
    assert "Draw [bold]outside[/bold]" in at(100, "show", "words.evil", cwd=tmp_path).shown


def test_colours_are_there_at_a_terminal_and_gone_with_no_color(tmp_path: Path) -> None:
    assert "\x1b[36m" in at(100, "tools", "stock", cwd=tmp_path).raw
    plain = at(100, "tools", "stock", cwd=tmp_path, NO_COLOR="1").raw
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", plain)
    assert "\x1b" not in at(100, "tools", "stock", cwd=tmp_path, TERM="dumb").raw


def test_forced_colours_do_not_change_what_a_pipe_gets(tmp_path: Path) -> None:
    plain = shop("tools", "stock", cwd=tmp_path).out
    assert shop("tools", "stock", cwd=tmp_path, FORCE_COLOR="1", PY_COLORS="1").out == plain


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["run", "--help"],
        ["tools"],
        ["show", "stock.count"],
        ["run", "stock.count", "--help"],
        ["run", "calc.roi", "--cost=50"],
        ["policy", "explain", "stock.count", "--item=a"],
    ],
)
def test_forty_columns_are_enough(tmp_path: Path, words: list[str]) -> None:
    shown = at(40, *words, cwd=tmp_path, NO_COLOR="1").shown
    prose = [line.rstrip() for line in shown.split("\n") if "Example:" not in line and "/" not in line]
    assert max(map(len, prose)) <= 40
    for word in ("stock.count", "include-reserved", "destructive", "conformance", "catalogue"):
        assert word in shown or word[:-1] not in shown, f"{word} is broken"


def test_a_narrow_list_puts_descriptions_under_names(tmp_path: Path) -> None:
    shown = at(40, "tools", "--category", "stock", cwd=tmp_path).shown
    assert "\n".join(line.rstrip() for line in shown.split("\n")) == snapshot("""\
stock
  stock.audit  read
    Count everything by hand.
  stock.count  read
    Say how many pieces of an item are
    in stock.
  stock.drop  destructive
    Throw all pieces of an item away.
  stock.order  write
    Order more pieces of an item from
    the supplier.
  stock.vault  read
    Look into the vault.

""")


def test_sections_are_drawn_under_their_headings(tmp_path: Path) -> None:
    shown = at(60, "run", "calc.roi", "--cost", "50", cwd=tmp_path, NO_COLOR="1").shown
    assert re.sub(
        r"in \d+ ms", "in N ms", "\n".join(line.rstrip() for line in shown.split("\n"))
    ) == snapshot("""\
Net present value
  -50.0

Year by year
  Year  Cash
  1     50.0
  2     150.0

Note  rounded
calc.roi completed in N ms
""")


def test_a_long_list_is_cut_at_a_terminal_and_says_so(tmp_path: Path) -> None:
    shown = at(60, "run", "big.list", cwd=tmp_path, NO_COLOR="1").shown
    assert "- 499\n… and 199500 more; a pipe and --json get all of them\n" in shown


def test_markdown_is_rendered_and_a_link_shows_where_it_leads(tmp_path: Path) -> None:
    terminal = at(60, "run", "calc.report", cwd=tmp_path)
    assert "A report" in terminal.shown
    assert "**" not in terminal.shown and "All well." in terminal.shown
    assert "https://example.org/report" in terminal.shown
    assert "\x1b]8" not in terminal.raw
    assert "All **well**." in shop("run", "calc.report", cwd=tmp_path).out


def test_progress_is_shown_while_it_runs(tmp_path: Path) -> None:
    terminal = Terminal("run", "slow.wait", cwd=tmp_path)
    terminal.until("half")
    terminal.until("… Waiting")
    terminal.interrupt()
    assert terminal.end() == 130
