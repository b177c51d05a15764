"""tasks.md: tasks in a file, and a spawner of one's own."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from handrail import Context, Handrail, Principal, Result, tool
from handrail.toolsets.spawn_agent import Spawned, SpawnRequest, spawn_agent_tool
from handrail.toolsets.tasks import SqliteTaskStore, task_tools


@tool("notes.read", level="read")
async def read_note(topic: str) -> str:
    """Read the note that was left on a topic.

    Use it before you begin. Not for tasks: list them with task_list, which comes first.

    Args:
        topic: What the note is about, in a word.
    """
    return f"The {topic} is slow."


# region spawner
class OneCall:
    """A spawner whose agents know one thing to do."""

    async def spawn(self, request: SpawnRequest, ctx: Context) -> Result:
        note = await ctx.call("notes.read", {"topic": "parser"})
        answer = f"The note says: {note.to_model()}"
        return Result(data=Spawned(answer=answer), output=answer)


# endregion


async def main() -> None:
    with TemporaryDirectory() as folder:
        # region handrail
        store = SqliteTaskStore(Path(folder))
        agents = spawn_agent_tool()
        async with Handrail([*task_tools(store), agents.tool, read_note]) as hr:
            ana = Principal(tenant="acme", user="ana")

            async def call(name: str, **args: object) -> str:
                return (await hr.call(name, args, principal=ana, session="parser", source="web")).to_model()

            await call("task_create", subject="Measure the parser")
            await call("task_create", subject="Make it faster", depends_on=["T1"])
            await call("task_update", id="T1", status="in_progress")
            print(await call("task_list"))
            print(await call("task_update", id="T1", depends_on=["T2"]))

            print(await call("task", prompt="Is there a note on the parser?"))
            agents.attach(OneCall())
            print(await call("task", prompt="Is there a note on the parser?"))
        await store.close()
        # endregion


if __name__ == "__main__":
    asyncio.run(main())
