"""One call of a small read tool, from raw arguments to a result."""

from __future__ import annotations

from benchmarks.measured_processes import Source, own_source, time_together
from benchmarks.row import Ratio, Row, at_least, at_most
from benchmarks.timing import Effort

TITLE = "One call through the whole pipeline, in memory"

_TAKES = "Handrail takes {:.2f} of its time"
_FASTER = "Handrail is {:.1f} times faster"


def measure(peers: str | None, effort: Effort) -> list[Row]:
    here = own_source("benchmarks.subjects.one_call")
    plain = own_source("benchmarks.subjects.bare_validation")
    agents = Source("benchmarks.peers.openai_agents", peers)
    mcp = Source("benchmarks.peers.fastmcp", peers)
    langchain = Source("benchmarks.peers.langchain", peers)
    pydantic_ai = Source("benchmarks.peers.pydantic_ai", peers)
    times = time_together([here, plain, agents, mcp, langchain, pydantic_ai], effort)
    handrail = times.of(here, "Handrail call")

    def takes(source: Source, subject: str, limit: float | None = None) -> Row:
        measured = times.of(source, subject)
        return Row(subject, measured, Ratio(handrail, measured, _TAKES), at_most(limit) if limit else None)

    def faster(source: Source, subject: str, limit: float | None = None) -> Row:
        measured = times.of(source, subject)
        return Row(subject, measured, Ratio(measured, handrail, _FASTER), at_least(limit) if limit else None)

    return [
        Row("Handrail call", handrail),
        takes(plain, "bare awaited function"),
        takes(plain, "pydantic validation + function"),
        takes(agents, "openai-agents on_invoke_tool", 1.0),
        takes(agents, "openai-agents with a ToolContext for each call"),
        takes(pydantic_ai, "pydantic-ai toolset: validate, call_tool"),
        takes(pydantic_ai, "pydantic-ai ToolManager.handle_call"),
        faster(mcp, "FastMCP call_tool", 20),
        faster(langchain, "LangChain ainvoke", 25),
    ]
