"""Handrail's call with few and many tools and rules around the tool that is called."""

from collections.abc import Sequence
from itertools import cycle, islice

from benchmarks.sample_tool import NAME, add_numbers
from benchmarks.subject_process import main
from benchmarks.subjects.one_call import completed
from benchmarks.timing import Subject
from handrail import Handrail, Policy, Principal, Rule, Tool, tool

SOMEBODY = Principal(tenant="acme", user="u1")


async def subjects() -> Sequence[Subject]:
    called = tool(NAME, level="read")(add_numbers)
    others = [tool(f"area{n // 100}.read{n % 100}", level="read")(add_numbers) for n in range(9_999)]
    ids = [other.id for other in others]
    few, many = [called, *others[:9]], [called, *others]
    rules = rules_about_other_tools(100)
    about_this = Rule(
        tool="add_*", when={"a": {"gt": 999}}, verdict="ask", reason="Large sums are looked at."
    )

    return (
        subject("10 tools", few, ()),
        subject("10,000 tools, 100 rules", many, rules),
        subject("10 tools, 100 rules", few, rules),
        subject("10,000 tools", many, ()),
        subject("10,000 tools, 100 rules, one more on this tool's arguments", many, [*rules, about_this]),
        subject("10,000 tools, 100 rules, each call another tool", many, rules, ids),
    )


def rules_about_other_tools(number: int) -> list[Rule]:
    """Exact names and patterns with the star at each end; every ninth looks at arguments too."""
    patterns = cycle(("other.*", "mcp{}.*", "*.delete{}", "data.write{}*", "billing.refund{}"))
    return [
        Rule(
            tool=pattern.format(n),
            when={"path": {"under": "/etc"}} if n % 9 == 0 else {},
            verdict="ask",
            reason=f"Rule {n} wants a person to look.",
        )
        for n, pattern in enumerate(islice(patterns, number))
    ]


def subject(
    name: str, tools: Sequence[Tool], rules: Sequence[Rule], called: Sequence[str] = (NAME,)
) -> Subject:
    """Calls these tools in turn; the budget is on one, as in the row above it."""
    hr = Handrail(tools=tools, policy=Policy(rules=tuple(rules)))

    async def loop(number: int) -> object:
        for tool_id in islice(cycle(called), number):
            outcome = await hr.call(tool_id, {"a": 1, "b": 2}, principal=SOMEBODY, session="s")
        return outcome

    return Subject(name, loop, completed)


if __name__ == "__main__":
    main(subjects)
