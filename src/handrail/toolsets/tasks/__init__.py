"""Tools with which an agent keeps track of its work: tasks that may wait for each other, and a todo list."""

from __future__ import annotations

from handrail import Tool
from handrail.toolsets.tasks.sqlite_store import SqliteTaskStore
from handrail.toolsets.tasks.store import MemoryTaskStore, TaskList, TaskStore
from handrail.toolsets.tasks.task_tools import (
    task_create,
    task_get,
    task_list,
    task_update,
    todoread,
    todowrite,
)

__all__ = ["SqliteTaskStore", "MemoryTaskStore", "TaskList", "TaskStore", "task_tools"]


def task_tools(store: TaskStore) -> list[Tool]:
    """The six tools over one store."""
    return [make(store) for make in (task_create, task_update, task_get, task_list, todowrite, todoread)]
