"""handrail policy explain, and the settings it reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.acceptance.command_line import SHOP
from tests.acceptance.forked_cli import Terminal, handrail, shop

SETTINGS = f"""
tools = ["{SHOP}"]
permissions = []
agents = "agents.yaml"

[policy]
deny = ["words.print"]
capabilities = ["read", "write"]

[[policy.rules]]
name = "large orders"
tool = "stock.order"
when = {{ pieces = {{ gt = 100 }} }}
verdict = "deny"
reason = "orders above 100 pieces are made by purchasing"
match = [{{ pieces = 101 }}]
not_match = [{{ pieces = 100 }}]
"""
AGENTS = "agents: [{id: clerk, tools: {allow: [stock.*]}}, {id: planner, plan: true}]"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "handrail.toml").write_text(SETTINGS)
    (tmp_path / "agents.yaml").write_text(AGENTS)
    return tmp_path


@pytest.mark.req("BY-07")
def test_every_layer_is_named_and_the_one_that_decided_is_marked(project: Path) -> None:
    done = handrail(
        "policy", "explain", "stock.order", "--item=a", "--pieces=500", "--as", "agent", cwd=project
    )
    assert (done.code, done.err) == (
        2,
        "error: agents.yaml: which agent?\n  name one with --as agent:NAME; there are: clerk, planner\n",
    )
    words = ["stock.order", "--item=a", "--pieces=500", "--as", "agent:clerk"]
    done = handrail("policy", "explain", *words, cwd=project)
    assert (done.code, done.err) == (0, "")
    assert done.out == snapshot("""\
deny: Tool not permitted: stock.order (orders above 100 pieces are made by purchasing)
    visibility: allow, this tenant may see it
    allow/deny: allow, no list keeps it out
    allow/deny: allow, no list keeps it out
    permission: allow, it requires no permission
    capability: allow, every capability it needs is granted
  > rules [large orders]: deny, Tool not permitted: stock.order (orders above 100 pieces are made by purchasing)
    danger: allow, moderate runs by itself here
    level: ask, Needs approval: it changes real data
    danger: allow, moderate runs by itself here
    level: ask, Needs approval: it changes real data

What would help: other arguments, or a change of the rule 'large orders'; it applies when {'pieces': {'gt': 100}}
""")  # noqa: E501


@pytest.mark.req("BY-07")
@pytest.mark.parametrize(
    ("words", "verdict", "layer", "helps"),
    [
        (["stock.count", "--item=a"], "allow", "level", None),
        (["words.print"], "deny", "allow/deny", "take it off the deny list under [policy] deny"),
        (
            ["words.echo", "--text=a", "--as=agent:clerk"],
            "deny",
            "allow/deny",
            "add it to the allow list under [policy] allow",
        ),
        (
            ["stock.vault"],
            "deny",
            "permission",
            "let the caller hold that permission (`permissions` in handrail.toml)",
        ),
        (["stock.drop", "--item=a"], "ask", "danger", "asked by: handrail run stock.drop --item=a"),
        (
            ["stock.order", "--item=a", "--pieces=1", "--as=agent:clerk"],
            "ask",
            "level",
            "--yes answers it too; at a terminal you are asked by: "
            "handrail run stock.order --as agent:clerk --item=a --pieces=1",
        ),
        (["stock.drop", "--item=a", "--as=agent:clerk"], "ask", "danger", "--yes does not answer this one"),
        (
            ["stock.order", "--item=a", "--pieces=1", "--as=agent:planner"],
            "queue",
            "plan",
            "switch plan mode off",
        ),
    ],
)
def test_it_says_what_would_make_the_call_pass(
    project: Path, words: list[str], verdict: str, layer: str, helps: str | None
) -> None:
    done = handrail("policy", "explain", *words, "--json", cwd=project)
    assert done.code == 0
    told = done.json
    assert (told["verdict"], told["layer"]) == (verdict, layer)
    [decider] = [step for step in told["trace"] if step["decided"]]
    assert (decider["verdict"], decider["layer"]) == (verdict, layer)
    assert told["what_helps"] is None if helps is None else helps in told["what_helps"]


def test_nothing_runs(project: Path) -> None:
    words = ["stock.drop", "--item=a", f"--trace={project / 'trace.txt'}"]
    assert handrail("policy", "explain", *words, cwd=project).code == 0
    assert not (project / "trace.txt").exists()


def test_an_unknown_tool_and_wrong_arguments_are_told_by_the_exit_code(
    project: Path,
) -> None:
    unknown = handrail("policy", "explain", "stock.hidden", cwd=project)
    assert unknown.code == 3
    assert "What would help: use the name of a tool that is there" in unknown.out
    wrong = handrail("policy", "explain", "stock.order", "--item=a", cwd=project)
    assert wrong.code == 2
    assert "Missing required param: pieces" in wrong.out
    assert "the flags are shown by: handrail run stock.order --help" in wrong.out
    yes = handrail("policy", "explain", "stock.order", "--yes", cwd=project)
    assert (yes.code, yes.err) == (2, "error: --yes is no option of this command\n  leave it out\n")
    assert handrail("policy", "explain", cwd=project).err.startswith("error: which tool?")


def test_at_a_terminal_it_reads_the_same(project: Path) -> None:
    terminal = Terminal("policy", "explain", "words.print", cwd=project)
    assert terminal.end() == 0
    assert "  > allow/deny [deny]: deny, Tool not permitted: words.print" in terminal.shown


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('tool = ["x"]', "'tool' is not a setting\n  did you mean 'tools'?"),
        ("tools = [", "it is not TOML"),
        ("[policy]\ndenny = []", "policy: 'denny' is not known here\n  did you mean 'deny'?"),
        ("[policy]\nplan = 5", "policy: 5 is no plan\n  use one of: False, True, all"),
        ('agents = "none.yaml"', "none.yaml: it cannot be read (No such file or directory)"),
    ],
)
def test_settings_that_cannot_be_used_stop_every_command(tmp_path: Path, settings: str, said: str) -> None:
    (tmp_path / "handrail.toml").write_text(settings)
    done = shop("run", "stock.count", "--item=a", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {tmp_path}") and said in done.err


def test_settings_are_found_from_a_folder_below(project: Path) -> None:
    (project / "deep" / "er").mkdir(parents=True)
    done = handrail("run", "words.print", cwd=project / "deep" / "er")
    assert (done.code, done.err.startswith("refused NOT_PERMITTED")) == (3, True)


def test_an_agent_that_has_no_policy_where_others_have_is_refused(project: Path) -> None:
    done = handrail("run", "stock.count", "--item=a", "--as", "agent:clark", cwd=project)
    assert done.code == 2
    assert done.err == "error: agents.yaml: there is no agent 'clark'\n  did you mean 'clerk'?\n"


def test_who_calls_is_a_setting(tmp_path: Path) -> None:
    (tmp_path / "who.py").write_text(
        "from handrail import Context, tool\n@tool('a.who', level='read')\n"
        "def who(*, ctx: Context) -> list[str | None]:\n    'Say who calls.'\n"
        "    return [ctx.tenant_id, ctx.user_id, ctx.agent_id, ctx.source]\n"
    )
    (tmp_path / "handrail.toml").write_text('tools = ["who.py"]\ntenant = "acme"\nuser = "ana"\n')
    assert handrail("run", "a.who", cwd=tmp_path).json == ["acme", "ana", None, "cli"]
    assert handrail("run", "a.who", "--as", "agent", cwd=tmp_path).json == ["acme", "ana", "agent", "agent"]
    assert handrail("run", "a.who", "--as", "agent:ops", cwd=tmp_path).json == ["acme", "ana", "ops", "agent"]
