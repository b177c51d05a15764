"""tools.md: a tool as a class."""

import asyncio
from typing import Any

# region class
from handrail import BaseTool, Handrail


class DeleteNote(BaseTool):
    """Delete a note for good, with everything attached to it. Nothing brings it back, so it should be one
    that nobody refers to any more.

    Use it when a person named this very note, not to tidy up: try notes.archive first.
    """

    id = "notes.delete"
    level = "destructive"
    requires = "notes.delete"

    def __init__(self, folder: str = "notes") -> None:
        self._folder = folder

    def execute(self, title: str) -> str:
        """Delete it.

        Args:
            title: The note's title.
        """
        return f"Deleted {title} in {self._folder}."


hr = Handrail([DeleteNote("diary")])
# endregion


async def main() -> None:
    async def yes(request: Any) -> bool:
        return True

    assert [tool.id for tool in await hr.tools()] == ["notes.delete"]
    for given, folder in ((DeleteNote, "notes"), (DeleteNote("diary"), "diary")):
        async with Handrail([given], approver=yes) as own:
            out = await own.call("notes.delete", {"title": "Milk"})
            assert out.result.data == f"Deleted Milk in {folder}."


if __name__ == "__main__":
    asyncio.run(main())
