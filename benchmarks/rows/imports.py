"""What an import costs in a fresh process, without the start of Python itself."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from benchmarks.environments import OWN, ROOT, Peers, Python
from benchmarks.measured_processes import environment
from benchmarks.row import Ratio, Row, at_most
from benchmarks.timing import Effort, Measured, NotMeasured, Timing

TITLE = "Import in a fresh process"

_CLOCK = """
import sys, time
statement = compile(sys.argv[1], "statement", "exec")
start = time.perf_counter()
exec(statement, {})
print(time.perf_counter() - start)
"""

_PYDANTIC = "import pydantic; pydantic.BaseModel"
"""The package loads itself on first use of a name, so the bare import says little."""
_OURS = "import handrail"
_USED = "from handrail import Handrail, tool"
_BROUGHT = "import asyncio, pydantic; pydantic.BaseModel"
"""What any engine that awaits and validates loads before a line of its own."""
_PEERS = {
    "langchain": "from langchain_core.tools import tool",
    "fastmcp": "from fastmcp import FastMCP",
    "pydantic_ai": "from pydantic_ai.toolsets import FunctionToolset",
    "openai_agents": "from agents import function_tool",
}


def measure(peers: Peers, effort: Effort) -> list[Row]:
    ours = _time_in_turn(OWN, ("import pydantic", _PYDANTIC, _OURS, _USED, _BROUGHT), effort.imports)
    theirs: dict[str, Measured] = {}
    for peer, statement in _PEERS.items():
        theirs |= _time_in_turn(peers.python(peer), [statement], effort.peer_imports)
    pydantic = ours[_PYDANTIC]

    def beside(measured: Measured) -> Ratio:
        return Ratio(measured, pydantic, "{:.2f} times pydantic's")

    return [
        Row(_PYDANTIC, pydantic),
        Row("import pydantic", ours["import pydantic"]),
        Row(_OURS, ours[_OURS], beside(ours[_OURS]), at_most(1.5)),
        Row(_USED, ours[_USED], beside(ours[_USED]), at_most(2)),
        Row(_BROUGHT, ours[_BROUGHT], beside(ours[_BROUGHT])),
        *(Row(statement, measured, beside(measured)) for statement, measured in theirs.items()),
    ]


def _time_in_turn(python: Python, statements: Sequence[str], rounds: int) -> dict[str, Measured]:
    """Every statement once a round, after one round that only fills the caches of disk and bytecode."""
    if python.missing_because:
        return dict.fromkeys(statements, NotMeasured(python.missing_because))
    seconds: dict[str, list[float]] = {statement: [] for statement in statements}
    failures: dict[str, Measured] = {}
    for number in range(rounds + 1):
        for statement in statements:
            if statement in failures:
                continue
            took = _time_once(python, statement)
            if isinstance(took, NotMeasured):
                failures[statement] = took
            elif number > 0:
                seconds[statement].append(took)
    return {statement: failures.get(statement) or Timing.over(seconds[statement]) for statement in statements}


def _time_once(python: Python, statement: str) -> float | NotMeasured:
    done = subprocess.run(
        [python.path, "-P", "-c", _CLOCK, statement],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment(python),
    )
    if done.returncode != 0:
        return NotMeasured(done.stderr.strip().splitlines()[-1])
    return float(done.stdout.splitlines()[-1])
