"""Points: every line of the code at which a process can die, drawn from the code itself."""

from __future__ import annotations

import importlib.util
import inspect
import os
import pkgutil
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

Trace = Callable[[FrameType, str, Any], Any]


@dataclass(frozen=True, order=True, slots=True)
class KillPoint:
    """A line of a function. To die there is to die just before it runs."""

    file: str
    function: str
    line: int

    def __str__(self) -> str:
        return f"{self.file.rpartition('/handrail/')[2]}:{self.line} in {self.function}"


def modules_of(*names: str) -> list[str]:
    """The modules named, and those in them where they are packages."""
    found = []
    for name in names:
        spec = importlib.util.find_spec(name)
        assert spec is not None, f"there is no module {name}"
        found.append(name)
        if spec.submodule_search_locations is not None:
            inside = pkgutil.walk_packages(spec.submodule_search_locations, f"{name}.")
            found.extend(one.name for one in inside)
    return found


def points_of(modules: Iterable[str]) -> list[KillPoint]:
    """Every line of every function of the modules."""
    found: set[KillPoint] = set()
    for name in modules:
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.origin is not None and spec.loader is not None
        code = spec.loader.get_code(name)  # type: ignore[attr-defined]
        for function in _functions(code):
            for _, _, line in function.co_lines():
                if line is not None and (line != function.co_firstlineno or function.co_name[0] == "<"):
                    found.add(KillPoint(function.co_filename, function.co_qualname, line))
    return sorted(found)


def _functions(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_flags & inspect.CO_OPTIMIZED:
                yield constant
            yield from _functions(constant)


class _Tracing:
    """Whether points count yet: threads are traced from their start, which is before anything interesting."""

    armed = False


def arm() -> None:
    """From here on every point counts."""
    _Tracing.armed = True


def trace_lines(files: frozenset[str], each: Callable[[KillPoint], None]) -> None:
    """Tell of every line of these files before it runs, in every thread that begins from here on."""

    def lines(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line" and _Tracing.armed:
            code = frame.f_code
            each(KillPoint(code.co_filename, code.co_qualname, frame.f_lineno))
        return lines

    _trace(lambda frame, *_: lines if frame.f_code.co_filename in files else None)


def die_at(point: KillPoint, time: int) -> None:
    """Kill this process, as nothing can prevent, just before the line runs for the so-manieth time."""
    left = time
    lock = threading.Lock()

    def lines(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if event == "line" and frame.f_lineno == point.line and _Tracing.armed:
            with lock:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
        return lines

    def calls(frame: FrameType, *_: Any) -> Any:
        code = frame.f_code
        return lines if code.co_filename == point.file and code.co_qualname == point.function else None

    _trace(calls)


def _trace(function: Trace) -> None:
    threading.settrace(function)
    sys.settrace(function)
