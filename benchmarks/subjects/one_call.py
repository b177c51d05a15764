"""Handrail's whole pipeline in memory: found, validated, decided, run, its events emitted."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.sample_shapes import OPENED, ORDER, RECEIPT, TICKET, open_ticket, place_order
from benchmarks.sample_tool import ANSWER, NAME, add_numbers
from benchmarks.subject_process import main
from benchmarks.timing import Subject
from handrail import Handrail, Outcome, Principal, tool


async def subjects() -> Sequence[Subject]:
    tools: dict[str, Callable[..., Any]] = {
        NAME: add_numbers,
        "open_ticket": open_ticket,
        "place_order": place_order,
    }
    hr = Handrail(tools=[tool(name, level="read")(function) for name, function in tools.items()])
    p = Principal(tenant="acme", user="u1")

    async def flat(number: int) -> object:
        for _ in range(number):
            outcome = await hr.call(NAME, {"a": 1, "b": 2}, principal=p, session="s")
        return outcome

    def shape(name: str, tool_id: str, arguments: Mapping[str, Any], expected: object) -> Subject:
        async def call(number: int) -> object:
            for _ in range(number):
                outcome = await hr.call(tool_id, arguments, principal=p, session="s")
            return outcome

        return Subject(name, call, lambda outcome: data_of(outcome) == expected)

    return (
        Subject("Handrail call", flat, completed),
        shape("Handrail call, usual shape", "open_ticket", TICKET, OPENED),
        shape("Handrail call, nested shape", "place_order", ORDER, RECEIPT),
    )


def completed(outcome: object) -> bool:
    return data_of(outcome) == ANSWER


def data_of(outcome: object) -> object:
    """What a completed call returned; None if it did not complete."""
    return outcome.result.data if isinstance(outcome, Outcome) and outcome.status == "completed" else None


if __name__ == "__main__":
    main(subjects)
