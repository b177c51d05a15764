"""ForkServer: real processes that start at once, because everything they need is imported already."""

from __future__ import annotations

import importlib
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import traceback
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).parents[2]


class ForkedProcess(Future[int]):
    """A child. Its result is its exit code; minus the signal where one killed it."""

    def __init__(self) -> None:
        super().__init__()
        self.pid: Future[int] = Future()


class ForkServer:
    """Starts children, each running one function of a module with JSON arguments."""

    def __init__(self, *preload: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.harness.fork_server", *preload],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._children: dict[int, ForkedProcess] = {}
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, name="fork-server", daemon=True)
        self._reader.start()

    def start(self, function: str, **arguments: Any) -> ForkedProcess:
        """Run `module:function` in a child."""
        child = ForkedProcess()
        with self._lock:
            number = len(self._children)
            self._children[number] = child
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps([number, function, arguments]) + "\n")
            self._process.stdin.flush()
        return child

    def run(self, function: str, timeout: float = 50, **arguments: Any) -> int:
        return self.start(function, **arguments).result(timeout)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            number, told, value = json.loads(line)
            child = self._children[number]
            (child.pid if told == "pid" else child).set_result(value)

    def close(self) -> None:
        """Kill what still runs, and the fork server."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(20)
        self._reader.join()
        self._process.stdout.close()

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _main(preload: list[str]) -> None:
    for name in preload:
        importlib.import_module(name)
    children: dict[int, int] = {}
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    with selectors.DefaultSelector() as selector:
        selector.register(0, selectors.EVENT_READ)
        selector.register(read, selectors.EVENT_READ)
        rest = b""
        while True:
            ready = {key.fd for key, _ in selector.select()}
            if read in ready:
                os.read(read, 1024)
                _reap(children)
            if 0 in ready:
                data = os.read(0, 65536)
                if not data:
                    break
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    number, function, arguments = json.loads(line)
                    pid = _fork(function, arguments)
                    children[pid] = number
                    _say(json.dumps([number, "pid", pid]))
    for pid in children:
        os.kill(pid, signal.SIGKILL)


def _reap(children: dict[int, int]) -> None:
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        if pid in children:
            _say(json.dumps([children.pop(pid), "code", os.waitstatus_to_exitcode(status)]))


def _say(line: str) -> None:
    os.write(1, line.encode() + b"\n")


def _fork(function: str, arguments: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        module, _, name = function.partition(":")
        getattr(importlib.import_module(module), name)(**arguments)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _main(sys.argv[1:])
