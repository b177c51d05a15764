"""Servers that are added to a settings file and taken out of it again."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.doors.cli.exit_codes import CommandError
from handrail.doors.cli.mcp import with_server, without_server

OWN = """\
# mine
tools = ["shop"]  # and these

[policy]
deny = ["*.purge"]

[mcp.servers.first]
command = "one"

[mcp.servers.first.tools.push]
level = "read"

[mcp.servers.second]
url = "https://x.example/mcp"
"""
TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)


@given(TEXTS, st.lists(TEXTS, max_size=3), st.dictionaries(st.from_regex("[A-Z]+", fullmatch=True), TEXTS))
def test_what_is_added_is_what_is_read_and_every_other_line_stays(
    command: str, args: list[str], env: dict[str, str]
) -> None:
    values = {"command": command, "args": args} | ({"env": env} if env else {})
    text = with_server(OWN, "new", values)
    assert text.startswith(OWN.rstrip())
    assert tomllib.loads(text)["mcp"]["servers"]["new"] == values
    assert without_server(text, "new") == OWN


def test_a_table_goes_with_all_below_it_and_nothing_else() -> None:
    assert without_server(OWN, "first") == OWN.replace(
        '[mcp.servers.first]\ncommand = "one"\n\n[mcp.servers.first.tools.push]\nlevel = "read"\n\n', ""
    )


def test_what_is_written_in_another_way_is_left_to_a_person() -> None:
    with pytest.raises(CommandError, match="cannot be written"):
        without_server('mcp.servers.first = { command = "one" }\n', "first")


def test_a_server_whose_tables_stand_apart_goes_with_all_of_them() -> None:
    policy = "[policy]\n# strict\ndeny = []\n"
    text = f'[mcp.servers.first.tools.push]\nlevel = "read"\n\n{policy}\n[mcp.servers.first]\nurl = "x"\n'
    assert without_server(text, "first") == policy
