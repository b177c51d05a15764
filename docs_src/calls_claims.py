"""calls.md: two calls that would write the same thing."""

import asyncio

from handrail import Handrail, Principal, tool

STARTED = asyncio.Event()
GO_ON = asyncio.Event()


# region tool
@tool("docs.edit", level="draft", writes=lambda args: [f"doc:{args.name}"])
async def edit(name: str) -> str:
    """Edit a document that several people may be working on.

    Args:
        name: The document's name.
    """
    STARTED.set()
    await GO_ON.wait()
    return f"{name} edited."


# endregion


async def main() -> None:
    ana = Principal(tenant="acme", user="ana", agent="writer")
    bo = Principal(tenant="acme", user="bo", agent="checker")
    async with Handrail([edit]) as hr:
        first = asyncio.create_task(hr.call("docs.edit", {"name": "plan"}, principal=ana, session="s1"))
        await STARTED.wait()
        # region busy
        out = await hr.call("docs.edit", {"name": "plan"}, principal=bo, session="s2")
        assert (out.status, out.code) == ("refused", "RESOURCE_BUSY")
        print(out.result.error)
        # endregion
        GO_ON.set()
        assert (await first).ok
        assert (await hr.call("docs.edit", {"name": "plan"}, principal=bo, session="s2")).ok


if __name__ == "__main__":
    asyncio.run(main())
