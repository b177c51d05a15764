"""handrail undo: what one command did, another takes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.forked_cli import ForkedCli

pytestmark = [pytest.mark.req("BY-14"), pytest.mark.timeout(180)]
TOOLS = """
from pathlib import Path
from handrail import tool

PLACE = Path("price.txt")

@tool("prices.set", level="write", undo=lambda args, data: ("prices.set", {"price": data["before"]}))
async def set_price(price: int) -> dict:
    'Set the price.'
    before = int(PLACE.read_text()) if PLACE.exists() else 0
    PLACE.write_text(str(price))
    return {"before": before}

@tool("undo_file", level="write")
async def undo_file(path: str, preview: bool = False) -> str:
    'Stands for the tool of a workspace.'
    return f"{path} {preview}"
"""


def test_a_call_is_previewed_undone_and_undone_no_more(forked_cli: ForkedCli, tmp_path: Path) -> None:
    (tmp_path / "prices.py").write_text(TOOLS)
    env = {"HANDRAIL_DATABASE": "sqlite:///p.db", "HANDRAIL_KEY": "5a" * 32, "HANDRAIL_TOOLS": "prices.py"}
    price = tmp_path / "price.txt"
    call_id = forked_cli("run", "prices.set", "--price=7", "--json", cwd=tmp_path, **env).json["call_id"]
    shown = forked_cli("undo", call_id, "--preview", cwd=tmp_path, **env)
    assert (shown.code, shown.err, price.read_text()) == (0, "", "7")
    assert "by calling" in shown.out and "price = 0" in shown.out and "allow" in shown.out
    done = forked_cli("undo", call_id, "--json", cwd=tmp_path, **env)
    assert (done.code, done.json["outcome"]["status"], price.read_text()) == (0, "completed", "0")
    again = forked_cli("undo", call_id, cwd=tmp_path, **env)
    assert (again.code, again.out) == (3, "")
    assert again.err.startswith("error: ALREADY_UNDONE: This call was undone already, by the call undo-call_")


@pytest.mark.long
def test_files_are_left_to_the_tools_of_a_workspace(forked_cli: ForkedCli, tmp_path: Path) -> None:
    (tmp_path / "prices.py").write_text(TOOLS)
    done = forked_cli("undo", "--file", "a.txt", "--preview", cwd=tmp_path, HANDRAIL_TOOLS="prices.py")
    assert (done.code, done.out) == (0, "a.txt True\n")
    none = forked_cli("undo", "--turn", "3", cwd=tmp_path, HANDRAIL_TOOLS="prices.py")
    assert none.code == 3 and "there is no tool undo_turn here" in none.err
    for words in ([], ["call_1", "--file=a"], ["--file=a", "--turn=1"]):
        which = forked_cli("undo", *words, cwd=tmp_path, HANDRAIL_TOOLS="prices.py")
        assert which.code == 2 and "undo what?" in which.err
    unknown = forked_cli(
        "undo", "call_1", cwd=tmp_path, HANDRAIL_TOOLS="prices.py", HANDRAIL_DATABASE="sqlite:///p.db"
    )
    assert unknown.code == 3 and "CALL_NOT_FOUND" in unknown.err and "handrail runs list" in unknown.err
