"""The examples, run as a person or a pipe would run them."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.acceptance import run_command

ROOT = Path(__file__).parents[2]


def run(example: str, **more: str) -> str:
    done = run_command.run(sys.executable, "-W", "error", f"examples/{example}.py", **more)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def at_a_terminal(example: str, typed: bytes, **more: str) -> tuple[int, str]:
    """The exit code and the output of an example whose prompt is answered at a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, f"examples/{example}.py"],
        cwd=ROOT,
        env={**{name: value for name, value in os.environ.items() if name != "NO_COLOR"}, **more},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    output = b""
    answered = False
    try:
        while piece := _read(ours):
            output += piece
            if not answered and b"[y/n]" in output:
                os.write(ours, typed)
                answered = True
        return process.wait(timeout=30), output.decode().replace("\r\n", "\n")
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # Linux says so when the other end is closed
        return b""


def test_sixty_seconds_tells_its_story_in_a_pipe() -> None:
    assert run("sixty_seconds") == snapshot("""\
Handrail in sixty seconds
An agent called ops works on Ana's orders. It has two tools:
  orders.find    read   Find orders, newest first, all of them or those with one status.
  orders.refund  write  Pay money back for an order that was paid, in EUR.

1. A call that is right
  orders.find {'status': 'paid'}
  completed  [{"number":"A-18","total":980.0,"status":"paid"},{"number":"A-17","total":42.5,"status":"paid"}]

2. A call with mistakes that cost nothing to repair
  orders.find {'Status': 'PAID', 'limit': '1'}
  repaired   status: 'Status' became 'status' (parameter name)
  repaired   status: 'PAID' became 'paid' (choice spelling)
  repaired   limit: '1' became 1 (text as number)
  completed  [{"number":"A-18","total":980.0,"status":"paid"}]

3. A call that could mean anything
  orders.find {'limit': 'a few'}
  refused    INVALID_PARAM: orders.find was not called. limit: should be a valid integer, got 'a few' (text)

4. A call that is not allowed, and why
  orders.refund {'number': 'A-18', 'amount': 980}
  refused    NOT_PERMITTED: Tool not permitted: orders.refund (refunds above 500 EUR are made by accounting)

  hr.explain() shows every step that was consulted, the deciding one marked:
  deny: Tool not permitted: orders.refund (refunds above 500 EUR are made by accounting)
      visibility: allow, this tenant may see it
      allow/deny: allow, no list keeps it out
      permission: allow, it requires no permission
      capability: allow, every capability it needs is granted
    > rules [large refunds]: deny, Tool not permitted: orders.refund (refunds above 500 EUR are made by accounting)
      danger: allow, moderate runs by itself here
      level: ask, Needs approval: it changes real data

5. A call that needs a person
  orders.refund {'number': 'A-17', 'amount': 42.5}

  agent ops wants to run orders.refund (write, moderate)
    number   A-17
    amount   42.5
    because  Needs approval: it changes real data
  This is not a terminal, so a scripted reviewer answers: yes.

  completed  42.50 EUR paid back for A-17, asked for by ops.

6. What the event log holds
   1  tool.started         orders.find    {'status': 'paid'}
   2  tool.completed       orders.find    2 found
   3  tool.started         orders.find    {'status': 'paid', 'limit': 1}, 3 repairs
   4  tool.completed       orders.find    1 found
   5  tool.failed          orders.find    INVALID_PARAM, layer validate
   6  tool.failed          orders.refund  NOT_PERMITTED, layer rules
   7  tool.needs_approval  orders.refund  Needs approval: it changes real data
   8  tool.approved        orders.refund  as asked
   9  tool.started         orders.refund  {'number': 'A-17', 'amount': 42.5}
  10  tool.completed       orders.refund  42.50 EUR paid back for A-17, asked for by ops.

Nothing ran that was refused, and nothing changed that nobody approved.
The code is in examples/sixty_seconds.py; more is in docs/index.md.
""")  # noqa: E501


def test_sixty_seconds_is_the_same_each_time() -> None:
    assert run("sixty_seconds") == run("sixty_seconds", PYTHONHASHSEED="7")


def test_at_a_terminal_a_yes_lets_the_call_run() -> None:
    code, said = at_a_terminal("sixty_seconds", b"y\n")
    assert code == 0
    assert "scripted reviewer" not in said
    assert "42.50 EUR paid back for A-17" in said
    assert "\033[32mcompleted\033[0m" in said


def test_at_a_terminal_a_no_refuses_it() -> None:
    code, said = at_a_terminal("sixty_seconds", b"n\n", NO_COLOR="1")
    assert code == 0
    assert "REJECTED: A person rejected orders.refund." in said
    assert "paid back" not in said
    assert "\033[" not in said


@pytest.mark.parametrize("lines", [1, 5])
def test_who_reads_only_the_beginning_sees_no_traceback(lines: int) -> None:
    program = f"{sys.executable} examples/sixty_seconds.py | head -{lines}"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", program],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.stdout.count("\n") == lines and done.stdout.startswith("Handrail in sixty seconds\n")
    assert done.stderr == ""
    assert done.returncode in (0, 128 + signal.SIGPIPE)


def test_five_styles_behave_alike() -> None:
    assert run("five_styles") == snapshot("""\
              as it should be    default filled in  repaired           a name too many    nothing given
function      13.9               7.9                13.9               INVALID_PARAM      MISSING_PARAM
define        13.9               7.9                13.9               INVALID_PARAM      MISSING_PARAM
class         13.9               7.9                13.9               INVALID_PARAM      MISSING_PARAM
parameters    13.9               7.9                13.9               INVALID_PARAM      MISSING_PARAM
JSON Schema   13.9               7.9                13.9               INVALID_PARAM      MISSING_PARAM
""")
