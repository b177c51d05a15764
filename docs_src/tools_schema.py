"""tools.md: a tool with a JSON Schema that somebody else wrote."""

import asyncio

# region json_schema
from typing import Any

from handrail import from_json_schema

SCHEMA = {
    "type": "object",
    "properties": {
        "note": {"$ref": "#/$defs/note", "description": "What to remind of."},
        "due": {"type": "string", "format": "date", "description": "On which day."},
    },
    "required": ["note"],
    "$defs": {
        "note": {
            "type": "object",
            "properties": {"title": {"type": "string", "description": "The note's title."}},
            "required": ["title"],
        }
    },
}


def remind(args: dict[str, Any]) -> str:
    """Set a reminder for a note, for one day or for any.

    Use it when a person wants to be told again, not for meetings: try calendar.add first.
    """
    return f"Reminder for {args['note']['title']}."


remind_of_note = from_json_schema("notes.remind", SCHEMA, execute=remind, level="write", formats=True)
# endregion


async def main() -> None:
    from handrail import Handrail

    async def yes(request: Any) -> bool:
        return True

    note = {"title": "Milk"}
    async with Handrail([remind_of_note], approver=yes) as hr:
        out = await hr.call("notes.remind", {"note": note, "due": "2026-05-01"})
        assert out.result.data == "Reminder for Milk."
        assert (await hr.call("notes.remind", {"note": note, "due": "tomorrow"})).code == "INVALID_PARAM"
        assert (await hr.call("notes.remind", {"note": note, "color": "red"})).ok

    lenient = from_json_schema("notes.remind", SCHEMA, execute=remind, level="read")
    async with Handrail([lenient]) as hr:
        assert (await hr.call("notes.remind", {"note": note, "due": "tomorrow"})).ok


if __name__ == "__main__":
    asyncio.run(main())
