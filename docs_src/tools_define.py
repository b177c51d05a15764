"""tools.md: a tool as a definition, at once or when it is first needed."""

import asyncio

# region define
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from handrail import define
from handrail.ext.compat import InitContext


class Note(BaseModel):
    title: str = Field(description="What it is about, in a few words.")
    text: str = Field("", description="All there is to say.")


def save(note: Note) -> str:
    return f"Saved {note.title}."


save_note = define(
    "notes.save",
    {
        "description": "Save a note, in place of an earlier one with its title.",
        "guidance": "Use it when a person asks, not for your own plans. Look with notes.search first.",
        "level": "write",
        "input": Note,
        "execute": save,
    },
)
# endregion


# region initialiser
async def prepare(init: InitContext) -> dict[str, Any]:
    """Called once, when the tool is first listed or called."""
    folder = Path(init.working_dir).name
    return {
        "description": f"Search the notes in {folder} for one with this title or text.",
        "level": "read",
        "input": Note,
        "output": str,
        "execute": lambda note: f"Nothing about {note.title} in {folder}.",
    }


search_notes = define("notes.search", prepare)
# endregion


async def main() -> None:
    from handrail import Handrail

    async def yes(request: Any) -> bool:
        return True

    async with Handrail([save_note, search_notes], approver=yes, working_dir="/srv/diary") as hr:
        assert (await hr.call("notes.save", {"title": "Milk"})).result.data == "Saved Milk."
        out = await hr.call("notes.search", {"title": "Milk"})
        assert out.result.data == "Nothing about Milk in diary."
        out = await hr.call("notes.search", {"title": "Milk", "color": "red"})
        assert out.code == "INVALID_PARAM"
        assert [tool.id for tool in await hr.tools()] == ["notes.save", "notes.search"]


if __name__ == "__main__":
    asyncio.run(main())
