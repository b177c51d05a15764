"""batches.md: the calls of one pass."""

import asyncio
from typing import Any

from handrail import Call, Handrail, Policy, Principal, tool

SHELF: dict[str, str] = {}


# region tools
@tool("shelf.put", level="write", writes=lambda args: [f"shelf:{args.name}"])
async def put(name: str, text: str) -> str:
    """Put a text on the shelf under a name, in place of what was there before.

    Use it to keep what others will look up. Not for drafts. Call shelf.look first: it replaces.

    Args:
        name: the name to keep it under
        text: what to keep
    """
    SHELF[name] = text
    return f"{name} is on the shelf."


@tool("shelf.look", level="read", reads=lambda args: [f"shelf:{args.name}"])
async def look(name: str) -> str:
    """Look up the text that stands on the shelf under a name, if there is one.

    Args:
        name: the name it was put under
    """
    return SHELF.get(name, "nothing")


# endregion

ana = Principal(tenant="acme", user="ana", agent="writer")


def call(tool: str, **args: Any) -> Call:
    return Call(tool, args, principal=ana, session="s1")


async def main() -> None:
    async with Handrail([put, look], policy=Policy(approval_mode="policy")) as hr:
        # region pass
        outcomes = await hr.call_many(
            [
                call("shelf.put", name="plan", text="Walk"),
                call("shelf.look", name="plan"),  # sees what the call before it wrote
                call("shelf.look", name="map"),  # overlaps with both
                call("shelf.look", nme="map"),  # is refused; the others do not notice
            ]
        )
        assert [out.status for out in outcomes] == ["completed", "completed", "completed", "refused"]
        assert [out.result.data for out in outcomes[1:3]] == ["Walk", "nothing"]
        # endregion
        # region dedup
        memory = hr.dedup(scope="until_change")  # one for each run of an agent
        first = await hr.call_many([call("shelf.look", name="plan")], dedup=memory)
        again = await hr.call_many([call("shelf.look", name="plan")], dedup=memory)
        assert (again[0].status, again[0].result.data) == ("duplicate", first[0].result.data)
        assert memory.skipped == ("shelf.look",)
        assert memory.exit == {"type": "exit", "reason": "all_tools_duplicate"}

        changed = [call("shelf.put", name="plan", text="Run"), call("shelf.look", name="plan")]
        done = await hr.call_many(changed, dedup=memory)
        assert done[1].result.data == "Run" and memory.exit is None
        # endregion
        # region groups
        groups = await hr.batches([call("shelf.look", name="map"), *changed])
        assert [(group.kind, len(group.calls)) for group in groups] == [("conditional", 2), ("parallel", 1)]
        # endregion


if __name__ == "__main__":
    asyncio.run(main())
