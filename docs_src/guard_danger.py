"""guard.md: a level that depends on the arguments."""

import asyncio

# region tool
from typing import Any, Literal

from handrail import Handrail, tool
from handrail.ext.guard import RiskAssessment


def peril(args: Any) -> Literal["safe"] | RiskAssessment:
    if args.command in ("ls", "pwd"):
        return "safe"
    return RiskAssessment("dangerous", f"`{args.command}` may change or delete files")


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
        outcome = await hr.call("shell.run", {"command": "rm -rf /"})
        assert outcome.status == "pending" and outcome.decision is not None
        reason = "Needs approval: it is dangerous (`rm -rf /` may change or delete files)"
        assert outcome.decision.reason == reason
        assert (run_command.danger, run_command.level) == ("dangerous", "destructive")
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
