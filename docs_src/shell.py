"""shell.md: how dangerous commands are."""

import asyncio


async def main() -> None:
    # region judge
    from handrail.toolsets.workspace.shell import judge

    assert judge("git log --oneline | head -5").danger == "safe"
    assert judge("make test").danger == "moderate"

    said = judge("ls && find . -name '*.pyc' -delete")
    assert said.danger == "dangerous"
    assert said.sentence() == "it deletes what it finds: `-delete`"
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
