"""Tools with which an agent keeps track of its work: tasks that may wait for each other, and a todo list."""

from __future__ import annotations

from handrail import Tool
from handrail.toolsets.tasks.book import MemoryTaskBook, Rows, TaskBook
from handrail.toolsets.tasks.file_book import FileTaskBook
from handrail.toolsets.tasks.task_create import task_create
from handrail.toolsets.tasks.task_get import task_get
from handrail.toolsets.tasks.task_list import task_list
from handrail.toolsets.tasks.task_update import task_update
from handrail.toolsets.tasks.todoread import todoread
from handrail.toolsets.tasks.todowrite import todowrite

__all__ = ["FileTaskBook", "MemoryTaskBook", "Rows", "TaskBook", "task_tools"]


def task_tools(book: TaskBook) -> list[Tool]:
    """The six tools over one book."""
    return [make(book) for make in (task_create, task_update, task_get, task_list, todowrite, todoread)]
