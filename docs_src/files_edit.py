"""files.md: an edit that is told what is wrong with it, and one that is done."""

import tempfile
from pathlib import Path

from handrail import Policy
from handrail.sync import Handrail
from handrail.toolsets.workspace.toolset import WorkspaceToolset


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        show(folder)


def show(folder: str) -> None:
    # region edit
    Path(folder, "shop.py").write_text('class Shop:\n    def open(self):\n        print("open")\n')
    policy = Policy(approval_mode="danger", moderate="allow")
    with Handrail([WorkspaceToolset(folder)], policy=policy) as hr:
        print(hr.call("read_file", {"path": "shop.py"}).to_model())

        wrong = {"path": "shop.py", "search": "def Open(self):", "replace": "def open(self, at):"}
        print(hr.call("edit_file", wrong).result.error)

        right = {
            "path": "shop.py",
            "search": 'def open(self):\n    print("open")\n',
            "replace": "def open(self, at):\n    print(at)\n",
        }
        print(hr.call("edit_file", right).to_model())
    # endregion


if __name__ == "__main__":
    import asyncio

    asyncio.run(main())
