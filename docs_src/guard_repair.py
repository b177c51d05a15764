"""guard.md: what is repaired, and what stays an error."""

import asyncio
import json
from typing import Any

from handrail import Handrail, Outcome, from_json_schema

WEIGHT = {"type": "number", "description": "Weight in kg"}
PRICE = {"type": "integer", "description": "Price in EUR, for example 12,500"}

REPAIRED: list[tuple[str, dict[str, Any], Any]] = [
    ("an integer", {"n": {"type": "integer"}}, {"n": "7"}),
    ("an integer", {"n": {"type": "integer"}}, {"n": "7.0"}),
    ("arguments", {"n": {"type": "integer"}}, '{"n": 7}'),
    ("a number, “Weight in kg”", {"weight": WEIGHT}, {"weight": "2.5 kg"}),
    ("an integer, “for example 12,500”", {"price": PRICE}, {"price": "9,900"}),
    ("a boolean", {"on": {"type": "boolean"}}, {"on": "TRUE"}),
    ("a boolean", {"on": {"type": "boolean"}}, {"on": 0}),
    ("text", {"code": {"type": "string"}}, {"code": 4711}),
    ("an integer or null", {"n": {"type": ["integer", "null"]}}, {"n": "null"}),
    ("one of `in-stock`, `sold`", {"state": {"enum": ["in-stock", "sold"]}}, {"state": "In Stock"}),
    ("a list of text", {"tags": {"type": "array", "items": {"type": "string"}}}, {"tags": "red"}),
    ("a list of text", {"tags": {"type": "array", "items": {"type": "string"}}}, {"tags": '["red"]'}),
    ("an object", {"at": {"type": "object", "properties": {"x": {"type": "integer"}}}}, {"at": '{"x": 1}'}),
    ("a parameter `max_results`", {"max_results": {"type": "integer"}}, {"maxResults": 5}),
    ("an optional integer", {"n": {"type": "integer"}}, {"n": None}),
    ("an integer", {"n": {"type": "integer"}}, {"n": {"value": 7}}),
    ("a parameter `n`", {"n": {"type": "integer"}}, {"arguments": {"n": 7}}),
]
KEPT: list[tuple[str, dict[str, Any], Any, str]] = [
    ("an integer", {"n": {"type": "integer"}}, {"n": "1.5"}, "half would be lost"),
    ("an integer", {"n": {"type": "integer"}}, {"n": "1.000"}, "one, or a thousand?"),
    ("an integer", {"n": {"type": "integer"}}, {"n": "1,000"}, "the schema does not write numbers so"),
    ("a number, “Weight in kg”", {"weight": WEIGHT}, {"weight": "2 lb"}, "another unit"),
    ("a number", {"n": {"type": "number"}}, {"n": "2.5 kg"}, "no unit is named in the schema"),
    ("a boolean", {"on": {"type": "boolean"}}, {"on": "yes"}, "only true, false, 1 and 0 are certain"),
    ("a boolean", {"on": {"type": "boolean"}}, {"on": "maybe"}, "neither"),
    ("text", {"code": {"type": "string"}}, {"code": ["a"]}, "a list is not its only element"),
    (
        "a list of text",
        {"tags": {"type": "array", "items": {"type": "string"}}},
        {"tags": "a, b"},
        "one, or two?",
    ),
    ("one of `low`, `high`", {"p": {"enum": ["low", "high"]}}, {"p": "hi"}, "nothing is guessed"),
    (
        "a parameter `limit`",
        {"limit": {"type": "integer"}},
        {"limt": 5},
        "misspelt: the answer names `limit`",
    ),
]


async def sent(properties: dict[str, Any], args: Any) -> Outcome:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    echo = from_json_schema(
        "echo", schema, execute=lambda args: dict(args), level="read", description="Echo."
    )
    async with Handrail([echo]) as hr:
        return await hr.call("echo", args)


async def main() -> None:
    print("| wanted | sent | received | kind |\n|---|---|---|---|")
    for wanted, properties, args in REPAIRED:
        out = await sent(properties, args)
        assert out.ok and out.repairs, (wanted, args, out.result.error)
        kinds = ", ".join(repair.kind for repair in out.repairs)
        print(f"| {wanted} | `{shown(args)}` | `{shown(out.result.data)}` | {kinds} |")
    print("\n| wanted | sent | why it stays an error |\n|---|---|---|")
    for wanted, properties, args, why in KEPT:
        out = await sent(properties, args)
        assert out.code == "INVALID_PARAM", (wanted, args, out.result.data)
        print(f"| {wanted} | `{shown(args)}` | {why} |")
    await aliases()


async def aliases() -> None:
    # region aliases
    from handrail import tool

    @tool(
        "files.read",
        level="read",
        aliases={"read_file": {"file": "path"}},
        param_aliases={"path": ("filename", "file_path")},
    )
    def read(path: str) -> str:
        """Read a text file on this machine from beginning to end.

        Args:
            path: Where it is.
        """
        return f"the text of {path}"

    async with Handrail([read]) as hr:
        assert (await hr.call("files.read", {"filename": "a.txt"})).result.data == "the text of a.txt"
        assert (await hr.call("read_file", {"file": "a.txt"})).result.data == "the text of a.txt"
    # endregion


def shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    asyncio.run(main())
