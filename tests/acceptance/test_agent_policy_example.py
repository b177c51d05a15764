"""The example of agents and their policies: its story, and its page at the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.acceptance.run_command import run
from tests.docs import cli_sessions

pytestmark = pytest.mark.long


@pytest.mark.req("PM-20", "PM-21", "PM-22", "PM-23", "PM-24", "PM-25")
def test_agents_get_what_their_file_says_and_sub_agents_no_more_than_both() -> None:
    done = run(sys.executable, "-W", "error", "-m", "examples.agent_policy")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == snapshot("""\
The agents of agents.yaml, and the tools that each of them sees:
  editor: file_read, file_write, web_search
  researcher: file_read, shell_exec, web_search
  assistant: file_delete, file_read, file_write, shell_exec, web_search

1. The editor calls what its list allows
  file_read {'path': 'plan.txt'}
  completed: Buy oats.

2. It calls what its list does not name
  shell_exec {'command': 'ls'}
  refused: NOT_PERMITTED. Tool not permitted: shell_exec (it is not on the allow list)
      visibility: allow, this tenant may see it
    > allow/deny [allow]: deny, Tool not permitted: shell_exec (it is not on the allow list)
      permission: allow, it requires no permission
      capability: allow, every capability it needs is granted

3. It calls what is allowed by file_* and denied by name: the deny wins
  file_delete {'path': 'plan.txt'}
  refused: NOT_PERMITTED. Tool not permitted: file_delete (it is on the deny list)
      visibility: allow, this tenant may see it
    > allow/deny [deny]: deny, Tool not permitted: file_delete (it is on the deny list)
      permission: allow, it requires no permission
      capability: allow, every capability it needs is granted

4. It spawns a researcher, which gets what both of them allow
  researcher of the editor: file_read, web_search
  web_search {'words': 'oat prices'}
  completed: ["https://example.org/oat-prices"]

   Only the researcher's list names shell_exec, only the editor's names file_write
  shell_exec {'command': 'ls'}
  refused: NOT_PERMITTED. Tool not permitted: shell_exec (it is not on the allow list)
      visibility: allow, this tenant may see it
      allow/deny: allow, no list keeps it out
    > allow/deny [allow]: deny, Tool not permitted: shell_exec (it is not on the allow list)
      permission: allow, it requires no permission
      capability: allow, every capability it needs is granted
  file_write {'path': 'plan.txt', 'text': ''}
  refused: NOT_PERMITTED. Tool not permitted: file_write (it is not on the allow list)
      visibility: allow, this tenant may see it
    > allow/deny [allow]: deny, Tool not permitted: file_write (it is not on the allow list)
      allow/deny: allow, no list keeps it out
      permission: allow, it requires no permission
      capability: allow, every capability it needs is granted

5. It spawns an assistant, which has no list of its own; the editor's deny holds all the same
  assistant of the editor: file_read, file_write, web_search
""")


def test_the_story_is_the_same_each_time_and_can_be_left() -> None:
    first, again = (run(sys.executable, "-m", "examples.agent_policy", PYTHONHASHSEED=seed) for seed in "17")
    left = run("bash", "-c", f"{sys.executable} -m examples.agent_policy | head -1")

    assert first.stdout == again.stdout
    assert (left.stdout, left.stderr) == (f"{first.stdout.splitlines()[0]}\n", "")


@pytest.mark.req("PM-21", "PM-22", "PM-25")
def test_every_command_of_its_page_answers_what_the_page_shows(tmp_path: Path) -> None:
    cli_sessions.prepare(tmp_path, cli_sessions.AGENTS)
    played = list(cli_sessions.steps(cli_sessions.AGENTS))
    for command, shown in played:
        assert cli_sessions.answer(command, tmp_path) == shown, command
    assert len(played) == 8
