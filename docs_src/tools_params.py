"""tools.md: a tool as a light declaration of parameters."""

import asyncio

# region params
from handrail import Handrail, from_params

list_notes = from_params(
    {
        "name": "notes.list",
        "description": "List the titles of all notes, newest of them first.",
        "permissionLevel": "read",
        "paramSchema": {
            "limit": {"type": "integer", "description": "How many at most.", "default": 20},
            "tag": {"type": "string", "description": "Only notes with this tag."},
        },
        "requiredParams": [],
        "outputSchema": {"type": "array", "items": {"type": "string"}},
        "execute": lambda args: ["Milk", "Bread"][: args["limit"]],
    }
)
# endregion


async def main() -> None:
    async with Handrail([list_notes]) as hr:
        assert (await hr.call("notes.list")).result.data == ["Milk", "Bread"]
        assert (await hr.call("notes.list", {"limit": 1})).result.data == ["Milk"]
        assert (await hr.call("notes.list", {"color": "red"})).code == "INVALID_PARAM"


if __name__ == "__main__":
    asyncio.run(main())
