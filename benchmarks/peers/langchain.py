"""LangChain: `ainvoke` of a structured tool, without callbacks."""

# mypy: disable-error-code="import-not-found"

from collections.abc import Sequence

from langchain_core.tools import StructuredTool

from benchmarks.sample_tool import add_numbers, is_right_answer
from benchmarks.subject_process import main
from benchmarks.timing import Subject


async def subjects() -> Sequence[Subject]:
    tool = StructuredTool.from_function(coroutine=add_numbers)

    async def ainvoke(number: int) -> object:
        for _ in range(number):
            answer = await tool.ainvoke({"a": 1, "b": 2})
        return answer

    return (Subject("LangChain ainvoke", ainvoke, is_right_answer),)


if __name__ == "__main__":
    main(subjects)
