"""The same work without a library, and with pydantic's validation alone: the floor under every figure."""

from collections.abc import Sequence

from pydantic import BaseModel

from benchmarks.sample_shapes import (
    OPENED,
    ORDER,
    RECEIPT,
    TICKET,
    Order,
    Priority,
    Receipt,
    open_ticket,
    place_order,
)
from benchmarks.sample_tool import add_numbers, is_right_answer
from benchmarks.subject_process import main
from benchmarks.timing import Subject


class Numbers(BaseModel):
    a: int
    b: int


class Ticket(BaseModel):
    title: str
    priority: Priority
    assignee: str | None = None


class PlacedOrder(BaseModel):
    order: Order


async def subjects() -> Sequence[Subject]:
    async def bare(number: int) -> object:
        for _ in range(number):
            answer = await add_numbers(1, 2)
        return answer

    async def flat(number: int) -> object:
        for _ in range(number):
            arguments = Numbers.model_validate({"a": 1, "b": 2})
            answer = await add_numbers(arguments.a, arguments.b)
        return answer

    async def usual(number: int) -> object:
        for _ in range(number):
            arguments = Ticket.model_validate(TICKET)
            answer = await open_ticket(arguments.title, arguments.priority, arguments.assignee)
        return answer

    async def nested(number: int) -> object:
        for _ in range(number):
            arguments = PlacedOrder.model_validate(ORDER)
            answer = await place_order(arguments.order)
        return answer

    return (
        Subject("bare awaited function", bare, is_right_answer),
        Subject("pydantic validation + function", flat, is_right_answer),
        Subject("pydantic validation + function, usual shape", usual, lambda result: result == OPENED),
        Subject("pydantic validation + function, nested shape", nested, is_receipt),
    )


def is_receipt(result: object) -> bool:
    return isinstance(result, Receipt) and result.model_dump() == RECEIPT


if __name__ == "__main__":
    main(subjects)
