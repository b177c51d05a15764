"""FastMCP: `call_tool` on the server object, in the same process, with its default middleware."""

# mypy: disable-error-code="import-not-found"

from collections.abc import Sequence
from typing import Any

from fastmcp import FastMCP

from benchmarks.sample_tool import ANSWER, NAME, add_numbers
from benchmarks.subject_process import main
from benchmarks.timing import Subject


async def subjects() -> Sequence[Subject]:
    server = FastMCP("benchmark")
    server.tool(add_numbers)

    async def call_tool(number: int) -> object:
        for _ in range(number):
            result = await server.call_tool(NAME, {"a": 1, "b": 2})
        return result

    return (Subject("FastMCP call_tool", call_tool, structured),)


def structured(result: Any) -> bool:
    return bool(result.structured_content == {"result": ANSWER})


if __name__ == "__main__":
    main(subjects)
