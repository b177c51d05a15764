"""shell.md: how dangerous commands are."""

import asyncio


async def main() -> None:
    # region classify
    from handrail.toolsets.workspace.shell import classify

    assert classify("git log --oneline | head -5").danger == "safe"
    assert classify("make test").danger == "moderate"

    verdict = classify("ls && find . -name '*.pyc' -delete")
    assert verdict.danger == "dangerous"
    assert verdict.sentence() == "it deletes what it finds: `-delete`"
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
