"""Handrail's whole pipeline in memory: found, validated, decided, run, told."""

from collections.abc import Sequence

from benchmarks.sample_tool import ANSWER, NAME, add_numbers
from benchmarks.subject_process import main
from benchmarks.timing import Subject
from handrail import Handrail, Outcome, Principal, tool


async def subjects() -> Sequence[Subject]:
    hr = Handrail(tools=[tool(NAME, level="read")(add_numbers)])
    p = Principal(tenant="acme", user="u1")

    async def call(number: int) -> object:
        for _ in range(number):
            outcome = await hr.call(NAME, {"a": 1, "b": 2}, principal=p, session="s")
        return outcome

    return (Subject("Handrail call", call, completed),)


def completed(outcome: object) -> bool:
    return isinstance(outcome, Outcome) and outcome.status == "completed" and outcome.result.data == ANSWER


if __name__ == "__main__":
    main(subjects)
