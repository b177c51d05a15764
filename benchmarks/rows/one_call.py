"""One call of a small read tool, from raw arguments to a result."""

from __future__ import annotations

from benchmarks.environments import Peers
from benchmarks.measured_processes import Source, own_source, time_together
from benchmarks.row import Budget, Ratio, Row, at_least, at_most
from benchmarks.timing import Effort

TITLE = "One call through the whole pipeline, in memory"

_TAKES = "Handrail takes {:.2f} of its time"
_FASTER = "Handrail is {:.1f} times faster"
_SHAPES = (("", at_most(4.4)), (", usual shape", at_most(4.4)), (", nested shape", None))


def measure(peers: Peers, effort: Effort) -> list[Row]:
    own = own_source("benchmarks.subjects.one_call")
    plain = own_source("benchmarks.subjects.bare_validation")
    agents, mcp, langchain, pydantic_ai = (
        Source(f"benchmarks.peers.{peer}", peers.python(peer))
        for peer in ("openai_agents", "fastmcp", "langchain", "pydantic_ai")
    )
    times = time_together([own, plain, agents, mcp, langchain, pydantic_ai], effort)
    handrail = times.of(own, "Handrail call")

    def shape(name: str, budget: Budget | None) -> list[Row]:
        bare, call = f"pydantic validation + function{name}", f"Handrail call{name}"
        floor, measured = times.of(plain, bare), times.of(own, call)
        ratio = Ratio(measured, floor, "{:.2f} times validation + function")
        return [Row(bare, floor), Row(call, measured, ratio, budget)]

    def takes(source: Source, subject: str, budget: Budget | None = None) -> Row:
        measured = times.of(source, subject)
        return Row(subject, measured, Ratio(handrail, measured, _TAKES), budget)

    def faster(source: Source, subject: str, budget: Budget) -> Row:
        measured = times.of(source, subject)
        return Row(subject, measured, Ratio(measured, handrail, _FASTER), budget)

    return [
        takes(plain, "bare awaited function"),
        *(row for name, budget in _SHAPES for row in shape(name, budget)),
        takes(agents, "openai-agents on_invoke_tool", at_most(1.0)),
        takes(agents, "openai-agents with a ToolContext for each call"),
        takes(pydantic_ai, "pydantic-ai toolset: validate, call_tool"),
        takes(pydantic_ai, "pydantic-ai ToolManager.handle_call"),
        faster(mcp, "FastMCP call_tool", at_least(20)),
        faster(langchain, "LangChain ainvoke", at_least(25)),
    ]
