"""calls.md: a body that can be stopped by force."""

import os

from handrail import Handrail, tool


# region process
@tool("shapes.render", level="read", isolation="process", timeout=60)
def render(width: int) -> str:
    """Render a shape, with a library that never looks at a clock.

    Args:
        width: How wide the shape is, in pixels.
    """
    return f"{width} wide"


# endregion


@tool("shapes.where", level="read", isolation="process")
def where() -> int:
    """Say in which process the body of this tool runs."""
    return os.getpid()


async def main() -> None:
    async with Handrail([render, where]) as hr:
        assert (await hr.call("shapes.render", {"width": 3})).result.data == "3 wide"
        out = await hr.call("shapes.where")
        assert out.ok and out.result.data != os.getpid()
