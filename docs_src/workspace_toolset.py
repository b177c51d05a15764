"""workspace.md: a workspace as a toolset."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory


def note(folder: str) -> None:
    Path(folder, "notes.txt").write_text("milk\n")


async def main() -> None:
    with TemporaryDirectory() as folder:
        note(folder)
        # region toolset
        from handrail import Handrail, Policy, Principal
        from handrail.toolsets.workspace import WorkspaceToolset

        toolset = WorkspaceToolset(folder, tenant="acme", hidden=(".env",))
        async with Handrail([toolset], policy=Policy(capabilities=["read"])) as hr:
            ana = Principal(tenant="acme", user="ana")
            read = await hr.call("read_file", {"path": "notes.txt"}, principal=ana)
            assert "milk" in read.to_model()
            written = await hr.call("write_file", {"path": "notes.txt", "content": "tea"}, principal=ana)
            assert written.code == "NOT_PERMITTED"
        # endregion


if __name__ == "__main__":
    asyncio.run(main())
