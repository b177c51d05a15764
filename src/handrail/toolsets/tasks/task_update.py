"""task_update: what changed in a task."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from handrail import Context, Result, Tool, tool
from handrail.ext import ToolError
from handrail.toolsets.tasks import keeping
from handrail.toolsets.tasks.book import TaskBook
from handrail.toolsets.tasks.entry import Entry, Status
from handrail.toolsets.tasks.keeping import Revision
from handrail.toolsets.tasks.task_create import Ids, Subject
from handrail.toolsets.tasks.told import ToldTask, line, now, shelf_of, told


def task_update(book: TaskBook) -> Tool:
    @tool(
        "task_update",
        level="read",
        capabilities=["read"],
        concurrency="parallel",
        repeatable=True,
        param_aliases={"id": ["task_id"], "subject": ["title"], "depends_on": ["blocked_by", "after"]},
        category="tasks",
        icon="list-checks",
        origin="system",
        output=ToldTask,
    )
    async def task_update(
        id: Annotated[str, Field(description="The task's id, such as T3")],
        status: Annotated[Status | None, Field(description="How far it is now")] = None,
        subject: Annotated[Subject | None, Field(description="What is to be done, in one line")] = None,
        description: Annotated[
            str | None,
            Field(description="What belongs to it, in place of what stood there", max_length=10_000),
        ] = None,
        depends_on: Annotated[
            Ids | None, Field(description="All tasks that must be over before it can begin; [] for none")
        ] = None,
        *,
        ctx: Context,
    ) -> Result:
        revision = Revision(status, subject, description, depends_on)
        if revision == Revision():
            raise ToolError(
                "Say what is to change: status, subject, description or depends_on.", code="INVALID_PARAM"
            )
        entry = await book.within(shelf_of(ctx), lambda rows: keeping.update(rows, id, revision, now()))
        warning = _warning(entry)
        return Result(
            data=told(entry),
            summary=f"{entry.id} is {entry.status.replace('_', ' ')}: {entry.subject}",
            output=line(entry) + (f"\nNote: {warning}" if warning else ""),
            metadata={"warning": warning} if warning else {},
        )

    return task_update


def _warning(entry: Entry) -> str:
    if entry.waits_for and entry.status in ("in_progress", "completed"):
        waits = ", ".join(f"T{number}" for number in entry.waits_for)
        return f"{entry.id} depends on what is still open: {waits}."
    return ""
