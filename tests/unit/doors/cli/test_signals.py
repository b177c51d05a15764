"""Ctrl-C is heard at once, whichever thread the system gives it to, and however deep the loop sleeps."""

from __future__ import annotations

import subprocess
import sys

import pytest

_ASLEEP = """
import asyncio, os, signal, threading
from pathlib import Path
from handrail.doors.cli.signals import on_stop

def send():
    main = Path(f"/proc/self/task/{os.getpid()}/stat")
    asleep = 0
    while asleep < 100:  # in a row: it waits for no turn of this thread, but in the loop
        asleep = asleep + 1 if main.read_text().rpartition(")")[2].split()[0] == "S" else 0
    signal.pthread_kill(threading.get_ident(), signal.SIGNAL)

async def main():
    over = asyncio.Event()
    def stop(why):
        print(why, flush=True)
        over.set() if TIMES == 1 else threading.Thread(target=send, daemon=True).start()
    on_stop(asyncio.get_running_loop(), stop)
    threading.Thread(target=send, daemon=True).start()
    await over.wait()

asyncio.run(main())
"""


def _run(signal: str, times: int) -> subprocess.CompletedProcess[str]:
    script = _ASLEEP.replace("SIGNAL", signal).replace("TIMES", str(times))
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.req("BY-18")
@pytest.mark.parametrize(("signal", "why"), [("SIGINT", "Ctrl-C"), ("SIGTERM", "it was told to end")])
def test_a_signal_that_another_thread_gets_wakes_the_loop(signal: str, why: str) -> None:
    done = _run(signal, 1)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{why}\n", "")


@pytest.mark.req("BY-18")
def test_the_second_one_ends_the_process() -> None:
    done = _run("SIGINT", 2)
    assert (done.returncode, done.stdout) == (130, "Ctrl-C\n")
