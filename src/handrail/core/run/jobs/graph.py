"""Graphs: calls of which some run after others. What is wrong with one is said before anything is kept."""

from __future__ import annotations

import difflib
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handrail.core.define.call import Outcome
from handrail.core.errors import UsageError

MOST_TASKS = 1_000
MOST_EDGES = 10_000
_NAME = 200
_SHOWN = 8


class GraphError(UsageError):
    """The tasks cannot be submitted together. Nothing was kept."""

    def __init__(self, message: str, *, task: str | None = None, outcome: Outcome | None = None) -> None:
        super().__init__(f"{message} Nothing was submitted.")
        self.task = task
        """The task at fault, where it is one."""
        self.outcome = outcome
        """What the guard said to it, where it was the guard that refused."""


@dataclass(frozen=True, slots=True)
class Task:
    """A call in a graph, under a name that the others can refer to."""

    name: str
    tool: str
    args: Mapping[str, Any] | str | None = None
    after: Sequence[str] = ()
    """The name of the task that must be completed first, or the names of several."""

    def __post_init__(self) -> None:
        names = (self.after,) if isinstance(self.after, str) else self.after
        object.__setattr__(self, "after", tuple(dict.fromkeys(names)))


def check_graph(graph: Iterable[Task]) -> dict[str, Task]:
    """The tasks by name, in their order, if they can be done one after the other; otherwise raises."""
    tasks: dict[str, Task] = {}
    for task in graph:
        if not isinstance(task, Task):
            raise GraphError(f"Give Task objects, such as Task('name', 'tool', {{...}}), not {task!r}.")
        if not (isinstance(task.name, str) and 0 < len(task.name) <= _NAME):
            raise GraphError(
                f"A task has a name of 1 to {_NAME} characters, by which others refer to it, "
                f"not {_short(task.name)}."
            )
        if task.name in tasks:
            raise GraphError(f"Two tasks are named {task.name!r}. Give each its own name.", task=task.name)
        tasks[task.name] = task
        if len(tasks) > MOST_TASKS:
            raise GraphError(f"There are more than {MOST_TASKS:,} tasks. Submit them in several graphs.")
    if not tasks:
        raise GraphError("There is no task. Give at least one.")
    _check_names(tasks)
    if (circle := _circle(tasks)) is not None:
        raise GraphError(
            f"The tasks go round in a circle: {_drawn(circle)}. Remove one of these steps.", task=circle[0]
        )
    return tasks


def _check_names(tasks: Mapping[str, Task]) -> None:
    edges = 0
    for task in tasks.values():
        for name in task.after:
            if name == task.name:
                raise GraphError(f"Task {name!r} comes after itself. Remove that.", task=name)
            if name not in tasks:
                raise GraphError(
                    f"Task {task.name!r} comes after {_short(name)}, which is not among the tasks."
                    f"{_meant(name, tasks)}",
                    task=task.name,
                )
        edges += len(task.after)
    if edges > MOST_EDGES:
        raise GraphError(
            f"The tasks name {edges:,} others to come after, and {MOST_EDGES:,} is the most. "
            "Name only those directly before; what comes before them is before all."
        )


def _meant(name: object, tasks: Mapping[str, Task]) -> str:
    near = difflib.get_close_matches(str(name)[:_NAME], tasks, 1, 0.5)
    return f" Did you mean {near[0]!r}?" if near else ""


def _circle(tasks: Mapping[str, Task]) -> list[str] | None:
    """Names that come after one another without end, in the order in which they would run."""
    open_parents = {name: len(task.after) for name, task in tasks.items()}
    followers: dict[str, list[str]] = {name: [] for name in tasks}
    for name, task in tasks.items():
        for before in task.after:
            followers[before].append(name)
    free = deque(name for name, count in open_parents.items() if count == 0)
    while free:
        done = free.popleft()
        del open_parents[done]
        for name in followers[done]:
            open_parents[name] -= 1
            if open_parents[name] == 0:
                free.append(name)
    if not open_parents:
        return None
    way: dict[str, None] = {}
    at = next(iter(open_parents))
    while at not in way:  # each that is left comes after another that is left
        way[at] = None
        at = next(name for name in tasks[at].after if name in open_parents)
    names = list(way)
    circle = names[names.index(at) :]
    return [at, *reversed(circle)]


def _drawn(circle: list[str]) -> str:
    if len(circle) > _SHOWN:
        circle = [*circle[: _SHOWN - 2], "…", circle[-1]]
    return " → ".join(_short(name, "{}") if name != "…" else name for name in circle)


def _short(value: object, form: str = "{!r}") -> str:
    text = form.format(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
