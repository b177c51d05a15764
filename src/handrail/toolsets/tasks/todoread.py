"""todoread: the todo list of a session."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from handrail import Context, Result, Tool, tool
from handrail.ext import register_output_block
from handrail.toolsets.tasks.book import TaskBook
from handrail.toolsets.tasks.entry import Status
from handrail.toolsets.tasks.told import ToldList, checklist, shelf_of, table_alone, tally, told_list

SECTIONS: list[dict[str, Any]] = [
    {
        "key": "todos",
        "label": "Todos",
        "type": "table",
        "config": {"columns": [{"key": "content", "label": "What"}, "status", "priority"]},
    },
    {"key": "counts", "label": "How many", "type": "summary"},
]
for _slug in ("todoread", "todowrite"):
    register_output_block(f"block:tool-output-{_slug}", table_alone(SECTIONS[0]))


def todoread(book: TaskBook) -> Tool:
    @tool(
        "todoread",
        level="read",
        capabilities=["read"],
        concurrency="parallel",
        repeatable=True,
        category="tasks",
        icon="list-todo",
        origin="system",
        output=ToldList,
        sections=SECTIONS,
    )
    async def todoread(
        status: Annotated[Status | None, Field(description="Only todos with this status")] = None,
        *,
        ctx: Context,
    ) -> Result:
        every = await book.within(shelf_of(ctx), lambda rows: rows.items())
        items = [one for one in every if status in (None, one.status)]
        data = told_list(items)
        return Result(data=data, summary=tally(data.counts, "todo"), output=checklist(items))

    return todoread
