"""Starts the suite's server as a process of its own, and stops it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.mcp_suite.packages import HERE


@contextmanager
def running_server() -> Iterator[str]:
    """The address of a server that runs for the length of a block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.mcp_suite.server"],
        cwd=HERE.parents[1],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip()
        if not address:
            raise RuntimeError("the server for the conformance suite did not start")
        yield address
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
