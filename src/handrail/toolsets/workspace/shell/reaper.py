"""Reaper: runs a command without a sandbox and lets nothing of it live on.

A program of its own: it becomes the parent of every process that the command leaves behind, and ends them all
when the command ends, when its own standard input closes, or when there are too many.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import time

_SUBREAPER = 36
_POLL_PAUSE = 0.05
_NICENESS = 10
TOO_MANY = 253


def main() -> None:
    most = int(sys.argv[1])
    command = sys.argv[2:]
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    waking, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    child = os.fork()
    if child == 0:
        _exec_command(command)
    code, due = None, 0.0
    while code is None:
        ready = select.select([0, waking], [], [], _POLL_PAUSE)[0]
        if 0 in ready:
            code = 128 + signal.SIGKILL
        elif ready:
            _drain(waking)
            code = _reap(child)
        if code is None and time.monotonic() >= due:
            code = TOO_MANY if len(_descendants()) > most else None
            due = time.monotonic() + _POLL_PAUSE
    _kill_all()
    os._exit(code)


def _drain(waking: int) -> None:
    """Ends of children were told here; all of them are looked at now."""
    with contextlib.suppress(BlockingIOError):
        os.read(waking, 4096)


def _exec_command(command: list[str]) -> None:
    try:
        os.setsid()
        os.nice(_NICENESS)
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
            score.write("1000")  # the first to go when the machine has no memory left
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.execv(command[0], command)
    finally:
        os._exit(127)


def _reap(child: int) -> int | None:
    """The exit code of the command, once it has one."""
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return None
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
    except ChildProcessError:
        return 255


def _kill_all() -> None:
    """Stop them all first, so that none makes another meanwhile; then kill."""
    while _has_children():
        seen: set[int] = set()
        while fresh := _descendants() - seen:
            _send(fresh, signal.SIGSTOP)
            seen |= fresh
        _send(seen, signal.SIGKILL)
        os.waitpid(-1, 0)  # one is gone; what was started meanwhile is seen in the next turn


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _send(pids: set[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def _descendants() -> set[int]:
    """Every process below this one."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (parent := _parent(name)) is not None:
            children.setdefault(parent, []).append(int(name))
    pids: set[int] = set()
    waiting = [os.getpid()]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in pids:
                pids.add(child)
                waiting.append(child)
    return pids


def _parent(pid: str) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return int(stat.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


if __name__ == "__main__":
    main()
