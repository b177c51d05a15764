"""undo-files.md: changes that are taken back and brought back."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from handrail import Policy
from handrail.sync import Handrail
from handrail.toolsets.workspace.toolset import WorkspaceToolset


def play() -> None:
    with TemporaryDirectory() as folder:
        # region undo
        notes = Path(folder, "notes.txt")
        with Handrail([WorkspaceToolset(folder)], policy=Policy(approval_mode="danger")) as hr:

            def call(tool: str, turn: int, **args: object) -> str:
                return hr.call(tool, args, session="s1", turn=turn, source="web").to_model()

            call("write_file", 1, path="notes.txt", content="one\ntwo\n")
            call("edit_file", 2, path="notes.txt", search="two", replace="2")
            call("write_file", 2, path="more.json", content="{}\n")
            print(call("undo_turn", 2, preview=True))

            call("undo_turn", 2)
            assert notes.read_text() == "one\ntwo\n" and not Path(folder, "more.json").exists()
            call("undo_turn", 3, redo=True)
            assert notes.read_text() == "one\n2\n"

            notes.write_text("mine now\n")  # by an editor, or a shell
            print(call("undo_file", 3, path="notes.txt"))
        # endregion


async def main() -> None:
    await asyncio.to_thread(play)


if __name__ == "__main__":
    asyncio.run(main())
