"""handrail run in pipes: flags, results, exit codes, one JSON document."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.acceptance.command_line import SHOP
from tests.acceptance.forked_cli import handrail, shop


@pytest.mark.req("EX-04", "AP-11")
def test_a_person_runs_a_write_without_being_asked(tmp_path: Path) -> None:
    done = shop(
        "run", "stock.order", "--item", "bolt", "--pieces", "5", "--tags", "a", "--tags=b", cwd=tmp_path
    )
    assert (done.code, done.err) == (0, "")
    assert done.json == {"item": "bolt", "pieces": 5, "colour": "red", "tags": ["a", "b"]}
    assert shop("run", "stock.audit", cwd=tmp_path).out == "counted\n"


@pytest.mark.parametrize(
    ("words", "sent"),
    [
        (["--text", "5"], {"text": "5"}),
        (["--text=-x=y"], {"text": "-x=y"}),
        (["--text", "-x"], {"text": "-x"}),
        (["--text", "größe 日本 👋"], {"text": "größe 日本 👋"}),
        (["--text", "", "--arg-json", "j"], {"text": "", "json": "j"}),
        (["--text=a", "--number", "5"], {"text": "a", "number": "5"}),
        (["--text=a", "--number:=5"], {"text": "a", "number": 5}),
        (["--text=a", "--place", '{"x": [1, null]}'], {"text": "a", "place": {"x": [1, None]}}),
        (["--text=a", "--place:=null"], {"text": "a"}),
        (["--text=a", "--many", "1", "--many", "2"], {"text": "a", "many": [1, 2]}),
        (["--args", '{"text": "a", "number": 1}', "--number:=2"], {"text": "a", "number": 2}),
        (["--args", '{"text": "a"}'], {"text": "a"}),
    ],
)
def test_values_arrive_as_they_were_meant(tmp_path: Path, words: list[str], sent: dict[str, object]) -> None:
    done = shop("run", "words.echo", *words, cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.json == {"json": "", "number": 0, "place": None, "many": None} | sent


def test_arguments_come_from_a_file_or_from_standard_input(tmp_path: Path) -> None:
    (tmp_path / "args.json").write_text('{"text": "from the file"}')
    assert shop("run", "words.echo", "--args", "@args.json", cwd=tmp_path).json["text"] == "from the file"
    done = shop("run", "words.echo", "--args", "-", cwd=tmp_path, stdin='{"text": "piped"}')
    assert done.json["text"] == "piped"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--txt", "a"], "error: --txt is no flag here\n  did you mean --text?\n"),
        (["hello"], "error: 'hello' stands alone\n  every value follows a flag, such as --text\n"),
        (["--text"], "error: --text wants a value\n  write --text VALUE, or --text:=JSON\n"),
        (
            ["--text", "--json"],
            "error: --text wants a value\n  if you mean the text '--json', write --text=--json\n",
        ),
        (["--args", "[1]"], 'error: --args: the arguments are not a JSON object\n  write {"name": value}\n'),
        (
            ["--args", "@none.json"],
            "error: none.json: it cannot be read (No such file or directory)\n",
        ),
        (["--args", '{"a": 1, "a": 2}'], "error: --args: 'a' is given twice in one object\n  keep one"),
        (["--text=a", "--yes"], "error: --yes goes with --as agent\n  you are asked yourself; --yes answers"),
        (["--text=a", "--as", "robot"], "error: --as 'robot' is nobody\n  give --as agent, --as agent:NAME"),
        (["--text=a", "--timeout", "0"], "error: --timeout '0' is no time\n  give seconds above 0\n"),
    ],
)
def test_a_wrong_command_line_says_what_to_do(tmp_path: Path, words: list[str], said: str) -> None:
    done = shop("run", "words.echo", *words, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(said)


def test_the_name_comes_before_the_flags(tmp_path: Path) -> None:
    nameless = shop("run", cwd=tmp_path)
    assert (
        nameless.code,
        nameless.err.startswith("error: which tool?\n  its name comes before its flags"),
    ) == (
        2,
        True,
    )
    late = shop("run", "--text", "a", "words.echo", cwd=tmp_path)
    assert (late.code, "No such option: --text" in late.err) == (2, True)


def test_options_stand_before_the_name_or_among_the_flags(tmp_path: Path) -> None:
    before = handrail("run", "--tools", SHOP, "--json", "stock.count", "--item=a", cwd=tmp_path)
    after = handrail(
        "run", "stock.count", "--item=a", "--include-reserved", "--json", "--tools", SHOP, cwd=tmp_path
    )
    assert (before.json["status"], after.json["status"]) == ("completed", "completed")


def test_a_value_never_becomes_an_option(tmp_path: Path) -> None:
    (tmp_path / "evil.py").write_text("open('evil.txt', 'w').write('ran')")
    for value in ("--tools=evil.py", "--as=agent", "--yes"):
        done = shop("run", "words.echo", "--text", value, cwd=tmp_path)
        assert (done.code, done.out) == (2, "")
        assert f"if you mean the text {value!r}, write --text={value}" in done.err
        assert shop("run", "words.echo", f"--text={value}", cwd=tmp_path).json["text"] == value
    assert not (tmp_path / "evil.txt").exists()
    unsure = shop("run", "stock.count", "--item=a", "--include-reserved", "--tools", "evil.py", cwd=tmp_path)
    assert unsure.code == 2
    assert "could be the value of that flag\n  write it before the name of the tool" in unsure.err
    assert not (tmp_path / "evil.txt").exists()


@pytest.mark.parametrize(
    ("words", "code", "status", "reason", "hint"),
    [
        (["stock.count", "--item", "bolt"], 0, "completed", None, ""),
        (["words.fail"], 1, "failed", "TOOL_FAILED", "See the traceback with --debug."),
        (["stock.count"], 2, "refused", "MISSING_PARAM", "See its flags: handrail run stock.count --help"),
        (
            ["stock.order", "--item=a", "--pieces=few"],
            2,
            "refused",
            "INVALID_PARAM",
            "See its flags: handrail run stock.order --help",
        ),
        (["stock.hidden"], 3, "refused", "TOOL_NOT_FOUND", "See which tools there are: handrail tools"),
        (["stock.cuont"], 3, "refused", "TOOL_NOT_FOUND", "See which tools there are: handrail tools"),
        (["stock.drop", "--item=a"], 4, "pending", "NEEDS_APPROVAL", "Run it at a terminal, where you can"),
        (
            ["stock.order", "--item=a", "--pieces=1", "--as", "agent"],
            4,
            "pending",
            "NEEDS_APPROVAL",
            "It was not run: nobody could be asked here.\n"
            "  Run it at a terminal, where you can answer, or with --yes.\n",
        ),
        (["words.token"], 1, "failed", "SECRET_MISSING", "Name the environment variable under `secrets`"),
        (["slow.wait", "--timeout", "0.01"], 1, "failed", "TIMEOUT", "Give it more time with --timeout"),
    ],
)
def test_the_exit_code_tells_how_it_went(
    tmp_path: Path, words: list[str], code: int, status: str, reason: str | None, hint: str
) -> None:
    done = shop("run", *words, cwd=tmp_path)
    assert done.code == code
    assert hint in done.err
    if reason is not None:
        assert f"{status} {reason}: " in done.err
    told = shop("run", *words, "--json", cwd=tmp_path)
    assert (told.code, told.json["status"], told.json["code"]) == (code, status, reason)


def test_a_tool_that_is_not_permitted_says_so_whatever_its_flags(tmp_path: Path) -> None:
    done = shop("run", "stock.vault", "--nonsense", cwd=tmp_path, HANDRAIL_PERMISSIONS="stock.read")
    assert (done.code, done.out) == (3, "")
    assert done.err == (
        "refused NOT_PERMITTED: Tool not permitted: stock.vault (it requires the permission vault.open)\n"
        "  See why: handrail policy explain stock.vault\n"
    )
    assert shop("run", "stock.vault", cwd=tmp_path).out == "gold\n"


def test_plan_mode_keeps_a_call_waiting(tmp_path: Path) -> None:
    (tmp_path / "handrail.toml").write_text("[policy]\nplan = true")
    done = shop("run", "stock.order", "--item=a", "--pieces=1", cwd=tmp_path)
    assert done.code == 4
    assert (done.out, done.err) == (
        "",
        "queued PLANNED: Order was not run: plan mode holds it back.\n"
        "  A plan ends with the command. Set `plan` to false in handrail.toml to run it.\n",
    )


def test_json_is_exactly_one_document_with_the_whole_outcome(tmp_path: Path) -> None:
    done = shop("run", "count_stock", "--thing", "bolt", "--limit", "5.0", "--json", cwd=tmp_path)
    assert (done.code, done.err, done.out.count("\n")) == (0, "", 1)
    told = done.json
    for changing in ("call_id", "run_id", "duration_ms"):
        assert told.pop(changing)
    assert told.pop("decision")["verdict"] == "allow"
    assert told == {
        "status": "completed",
        "ok": True,
        "code": None,
        "tool": "stock.count",
        "approval_id": None,
        "repairs": [{"path": "limit", "kind": "text as number", "before": "5.0", "after": 5}],
        "result": {"success": True, "data": 9},
    }


def test_what_a_body_prints_is_not_part_of_the_answer(tmp_path: Path) -> None:
    done = shop("run", "words.print", cwd=tmp_path)
    assert (done.out, done.err) == ("returned by the body\n", "printed by the body\n")
    assert shop("run", "words.print", "--json", cwd=tmp_path).json["result"]["data"] == "returned by the body"


def test_progress_and_pieces_of_output_come_on_standard_error(tmp_path: Path) -> None:
    done = shop("run", "slow.steps", cwd=tmp_path)
    assert done.out == "both done\n"
    assert done.err == "… Step 1 of 2\none\n… Step 2 of 2\ntwo\n"


def test_repairs_are_mentioned(tmp_path: Path) -> None:
    done = shop("run", "stock.order", "--item=a", "--pieces=2.0", "--colour", "RED", cwd=tmp_path)
    assert done.code == 0
    assert done.err == snapshot("""\
repaired pieces: "2.0" became 2 (text as number)
repaired colour: "RED" became "red" (choice spelling)
""")


def test_a_wrong_argument_names_the_flag_that_is_wrong(tmp_path: Path) -> None:
    done = shop("run", "stock.order", "--item=a", "--pieces=few", cwd=tmp_path)
    assert "stock.order was not called. pieces: should be a valid integer, got 'few' (text)" in done.err


@pytest.mark.req("PM-04", "PM-11")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["stock.order", "--item=a", "--pieces=1"], 0),
        (["stock.drop", "--item=a"], 4),
        (["stock.audit"], 4),
    ],
)
def test_yes_answers_ordinary_writes_of_an_agent_and_nothing_else(
    tmp_path: Path, words: list[str], code: int
) -> None:
    done = shop("run", *words, "--as", "agent", "--yes", "--json", cwd=tmp_path)
    assert done.code == code
    assert done.json["status"] == ("completed" if code == 0 else "pending")


def test_yes_does_not_answer_what_a_rule_asks_for(tmp_path: Path) -> None:
    rule = '[[policy.rules]]\ntool = "stock.order"\nwhen = { pieces = { gt = 10 } }\nreason = "many pieces"\n'
    (tmp_path / "handrail.toml").write_text(rule)
    many = ["run", "stock.order", "--item=a", "--pieces=11"]
    agent = shop(*many, "--as", "agent", "--yes", cwd=tmp_path)
    assert agent.code == 4
    assert "Run it at a terminal, where you can answer; --yes does not answer this one.\n" in agent.err
    person = shop(*many, cwd=tmp_path)
    assert person.code == 4
    assert "It was not run: somebody else must agree, and nobody else can be asked here." in person.err
    assert "See which: handrail policy explain stock.order --item=a --pieces=11\n" in person.err
    assert shop("run", "stock.order", "--item=a", "--pieces=10", cwd=tmp_path).code == 0


def test_secrets_come_from_the_variables_that_the_settings_name(tmp_path: Path) -> None:
    (tmp_path / "handrail.toml").write_text('secrets = ["SHOP_TOKEN"]')
    assert shop("run", "words.token", cwd=tmp_path, SHOP_TOKEN="t0ken").out == "5 characters\n"
    (tmp_path / "handrail.toml").write_text("")
    assert shop("run", "words.token", cwd=tmp_path, SHOP_TOKEN="t0ken").code == 1


def test_a_secret_argument_is_masked_wherever_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "handrail.toml").write_text('[[policy.rules]]\ntool = "words.login"\n')
    done = shop("run", "words.login", "--pin", "4711", "--json", cwd=tmp_path)
    assert done.code == 4
    assert "4711" not in done.out + done.err


def test_a_session_can_be_named_and_a_timeout_holds_for_tools_with_their_own(tmp_path: Path) -> None:
    (tmp_path / "waiting.py").write_text(
        "import asyncio\nfrom handrail import Context, tool\n"
        "@tool('a.wait', level='read', timeout=100)\n"
        "async def wait() -> str:\n    'Wait.'\n    await asyncio.Event().wait()\n    return ''\n"
        "@tool('a.where', level='read')\n"
        "async def where(*, ctx: Context) -> str:\n    'Say where.'\n    return ctx.session_id\n"
    )
    done = handrail("run", "a.wait", "--tools", "waiting.py", "--timeout", "0.01", "--json", cwd=tmp_path)
    assert (done.code, done.json["code"]) == (1, "TIMEOUT")
    assert handrail("run", "a.where", "--session", "s1", "--tools", "waiting.py", cwd=tmp_path).out == "s1\n"


def test_debug_shows_the_traceback_of_the_body_and_without_it_there_is_none(tmp_path: Path) -> None:
    assert "Traceback" not in shop("run", "words.fail", cwd=tmp_path).err
    told = shop("run", "words.fail", "--debug", cwd=tmp_path).err
    assert "See the traceback" not in told
    assert "Traceback" in told and 'raise RuntimeError("the paper is jammed")' in told


def test_help_for_a_tool_lists_its_flags(tmp_path: Path) -> None:
    done = shop("run", "words.echo", "--help", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out == snapshot("""\
Usage: handrail run words.echo [FLAGS]

Give back what was sent.

--text	text	required	\n\
--arg-json	text	default ""	\n\
--number	text or integer	default 0	\n\
--place	JSON object	optional	\n\
--many	integer, may be repeated	optional	\n\

Example:  handrail run words.echo --text=TEXT

--flag:=JSON gives a flag any value. There are also --args, --as, --yes, --json, --plan, --session, --timeout, --tools and --debug; see: handrail run --help
""")  # noqa: E501
    assert shop("run", "stock.hidden", "--help", cwd=tmp_path).code == 3


def test_a_tool_that_is_set_up_on_demand_runs(tmp_path: Path) -> None:
    assert shop("run", "slow.lazy", cwd=tmp_path).out == "set up\n"


def test_a_large_result_is_whole_in_a_pipe(tmp_path: Path) -> None:
    assert json.loads(shop("run", "big.list", cwd=tmp_path).out) == list(range(200_000))


def test_tools_can_be_named_on_the_command_line_instead(tmp_path: Path) -> None:
    assert handrail("run", "--tools", SHOP, "stock.count", "--item=a", cwd=tmp_path).out == "9\n"
    none = handrail("run", "stock.count", "--item=a", cwd=tmp_path)
    assert none.code == 2
    assert none.err.startswith("error: there are no tools here\n  name a module with --tools")


def test_a_hinted_command_is_about_the_same_call_and_runs_as_it_stands(tmp_path: Path) -> None:
    rule = '[[policy.rules]]\ntool = "stock.order"\nwhen = { pieces = { gt = 10 } }\nverdict = "deny"\n'
    (tmp_path / "handrail.toml").write_text(rule)
    words = ["stock.order", "--tools", SHOP, "--as", "agent:clerk", "--item=a nut", "--pieces=11"]
    refused = handrail("run", *words, cwd=tmp_path)
    assert refused.code == 3
    why = shlex.split(refused.err.partition("See why: ")[2])
    assert why == ["handrail", "policy", "explain", *words]
    assert handrail(*why[1:], cwd=tmp_path).out.startswith("deny: ")
    missing = handrail("run", *words[:5], cwd=tmp_path)
    flags = shlex.split(missing.err.partition("See its flags: ")[2])
    assert flags == ["handrail", "run", *words[:5], "--help"]
    assert handrail(*flags[1:], cwd=tmp_path).code == 0
    unknown = handrail("run", "stock.cuont", *words[1:5], cwd=tmp_path)
    assert unknown.err.endswith(f"{shlex.join(['handrail', 'tools', *words[1:5]])}\n")


def test_a_hinted_command_does_not_repeat_a_secret(tmp_path: Path) -> None:
    (tmp_path / "handrail.toml").write_text('[[policy.rules]]\ntool = "words.login"\nverdict = "deny"\n')
    done = shop("run", "words.login", "--pin=77531", cwd=tmp_path)
    assert done.code == 3
    assert "See why: handrail policy explain words.login (and pin)" in done.err
    assert "77531" not in done.err
