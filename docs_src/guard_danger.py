"""guard.md: a level that depends on the arguments."""

import asyncio

# region tool
from typing import Any, Literal

from handrail import Handrail, tool


def peril(args: Any) -> Literal["safe", "dangerous"]:
    return "safe" if args.command in ("ls", "pwd") else "dangerous"


@tool("shell.run", danger=peril)
async def run_command(command: str) -> str:
    """Run one command in the working folder. It may change or delete what is there, so a person is asked
    unless the command only looks around.

    Use it when no other tool does the job, not to read files: try files.read first.

    Args:
        command: The command line.
    """
    return f"ran {command}"


# endregion


async def main() -> None:
    # region use
    async with Handrail([run_command]) as hr:
        assert (await hr.call("shell.run", {"command": "ls"})).ok
        assert (await hr.call("shell.run", {"command": "rm -rf /"})).status == "pending"
        assert (run_command.danger, run_command.level) == ("dangerous", "destructive")
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
