"""handrail tools and handrail show."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.acceptance.command_line import SHOP
from tests.acceptance.forked_cli import Terminal, handrail, shop


def test_in_a_pipe_each_tool_is_a_line_with_tabs(tmp_path: Path) -> None:
    done = shop("tools", "--category", "stock", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out == snapshot("""\
stock.audit	read	Count everything by hand.
stock.count	read	Say how many pieces of an item are in stock.
stock.drop	destructive	Throw all pieces of an item away.
stock.order	write	Order more pieces of an item from the supplier.
stock.vault	read	Look into the vault.
""")


def test_tools_as_json(tmp_path: Path) -> None:
    done = shop("tools", "--json", "--category", "stock", "--level", "write", cwd=tmp_path)
    assert done.json == [
        {
            "id": "stock.order",
            "name": "Order",
            "description": "Order more pieces of an item from the supplier.",
            "category": "stock",
            "level": "write",
            "danger": "moderate",
            "aliases": [],
        }
    ]


@pytest.mark.req("BY-17")
def test_words_find_what_fits_them_the_best_first(tmp_path: Path) -> None:
    done = shop("tools", "COUNTING", "piece", "--level", "read", cwd=tmp_path)
    assert done.out.split("\t")[0] == "stock.count"
    assert all(line.split("\t")[1] == "read" for line in done.out.splitlines())
    none = shop("tools", "zebra", cwd=tmp_path)
    assert (none.code, none.out) == (0, "")
    assert none.err == "None of the 18 tools is like that.\n"


def test_a_tool_that_is_set_up_on_demand_is_listed(tmp_path: Path) -> None:
    assert "slow.lazy\tread\tSet up when it is needed." in shop("tools", "lazy", cwd=tmp_path).out


def test_a_level_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    done = shop("tools", "--level", "all", cwd=tmp_path)
    assert done.code == 2
    assert done.err == "error: 'all' is no level\n  use one of: read, draft, write, destructive\n"


def test_where_there_are_no_tools_it_says_how_to_make_one(tmp_path: Path) -> None:
    done = handrail("tools", cwd=tmp_path)
    assert (done.code, done.out) == (0, "")
    assert "There are no tools yet.\nMake one:   handrail new tool notes.search\n" in done.err
    assert handrail("tools", "--json", cwd=tmp_path).json == []


def test_at_a_terminal_tools_stand_under_their_category(tmp_path: Path) -> None:
    terminal = Terminal("tools", "--category", "stock", cwd=tmp_path, columns=80)
    assert terminal.end() == 0
    assert [line.rstrip() for line in terminal.shown.split("\n")] == snapshot(
        [
            "stock",
            "  stock.audit  read         Count everything by hand.",
            "  stock.count  read         Say how many pieces of an item are in stock.",
            "  stock.drop   destructive  Throw all pieces of an item away.",
            "  stock.order  write        Order more pieces of an item from the supplier.",
            "  stock.vault  read         Look into the vault.",
            "",
            "",
        ]
    )


def test_an_agent_sees_what_its_policy_allows(tmp_path: Path) -> None:
    (tmp_path / "agents.yaml").write_text(
        "agents: [{id: clerk, tools: {allow: ['stock.*'], deny: [stock.drop]}}]"
    )
    (tmp_path / "handrail.toml").write_text(f'tools = ["{SHOP}"]\nagents = "agents.yaml"')
    done = handrail("tools", "--as", "agent:clerk", "--json", cwd=tmp_path)
    assert [tool["id"] for tool in done.json] == ["stock.audit", "stock.count", "stock.order", "stock.vault"]


def test_show_tells_everything_about_a_tool(tmp_path: Path) -> None:
    done = shop("show", "count_stock", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert re.sub(rf"{re.escape(SHOP)}:\d+", "shop_tools.py:LINE", done.out) == snapshot("""\
stock.count
Say how many pieces of an item are in stock.

Use it before stock.order. It does not know what is on its way.

level         read
danger        safe
policy        auto
aliases       count_stock
written in    shop_tools.py:LINE

--item	text	required	The item, by its name in the catalogue.
--include-reserved / --no-include-reserved	yes or no	default false	Whether to count what is promised to somebody.
--limit	integer	optional	\n\

Example:  handrail run stock.count --item=TEXT
""")  # noqa: E501


def test_show_as_json_has_the_schema(tmp_path: Path) -> None:
    told = shop("show", "stock.order", "--json", cwd=tmp_path).json
    assert told["id"] == "stock.order"
    assert told["input_schema"]["required"] == ["item", "pieces"]
    assert told["example"] == "handrail run stock.order --item=TEXT --pieces=1"


@pytest.mark.parametrize("name", ["stock.hidden", "stock.nothing"])
def test_a_tool_of_somebody_else_is_unknown_like_any_other(tmp_path: Path, name: str) -> None:
    done = shop("show", name, cwd=tmp_path)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith(f"error: There is no tool '{name}'. ")


def test_the_example_of_every_tool_can_be_run_as_it_stands(tmp_path: Path) -> None:
    for told in shop("tools", "--json", "--level", "read", "stock", cwd=tmp_path).json:
        example = shop("show", told["id"], "--json", cwd=tmp_path).json["example"]
        done = shop(*shlex.split(example)[1:], "--json", cwd=tmp_path)
        assert (done.code, done.json["status"]) == (0, "completed"), example


def test_an_agent_that_may_use_nothing_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "agents.yaml").write_text("agents: [{id: clerk, tools: {allow: [stock.cuont]}}]")
    (tmp_path / "handrail.toml").write_text(f'tools = ["{SHOP}"]\nagents = "agents.yaml"')
    done = handrail("tools", "--as", "agent:clerk", cwd=tmp_path)
    assert (done.code, done.out) == (0, "")
    said, why = done.err.splitlines()
    assert re.fullmatch(r"There are \d+ tools, but agent clerk may use none of them\.", said)
    assert why.startswith("See why: handrail policy explain ") and why.endswith(" --as agent:clerk")
    assert "allow list" in handrail(*shlex.split(why)[3:], cwd=tmp_path).out


def test_a_module_without_tools_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("")
    done = handrail("tools", "--tools", "empty.py", cwd=tmp_path)
    assert done.err == "There are no tools in empty.py; decorate a function with @tool.\n"
    run = handrail("run", "a.b", "--tools", "empty.py", cwd=tmp_path)
    assert (run.code, run.err) == (
        2,
        "error: there are no tools in empty.py\n  decorate a function with @tool\n",
    )


def test_a_single_tool_is_not_spoken_of_as_many(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(
        "from handrail import tool\n@tool('a.b', level='read')\ndef b() -> int:\n    'Be.'\n    return 1\n"
    )
    done = handrail("tools", "--tools", "one.py", "--level=write", cwd=tmp_path)
    assert done.err == "The only tool is not like that.\n"
