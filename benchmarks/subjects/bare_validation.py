"""The same work without a library, and with pydantic's validation alone: the floor under every figure."""

from collections.abc import Sequence

from pydantic import BaseModel

from benchmarks.sample_tool import add_numbers, is_right_answer
from benchmarks.subject_process import main
from benchmarks.timing import Subject


class Arguments(BaseModel):
    a: int
    b: int


async def subjects() -> Sequence[Subject]:
    async def bare(number: int) -> object:
        for _ in range(number):
            answer = await add_numbers(1, 2)
        return answer

    async def validated(number: int) -> object:
        for _ in range(number):
            arguments = Arguments.model_validate({"a": 1, "b": 2})
            answer = await add_numbers(arguments.a, arguments.b)
        return answer

    return (
        Subject("bare awaited function", bare, is_right_answer),
        Subject("pydantic validation + function", validated, is_right_answer),
    )


if __name__ == "__main__":
    main(subjects)
