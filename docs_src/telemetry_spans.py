"""telemetry.md: spans and metrics for OpenTelemetry."""

import asyncio

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from handrail import Handrail, Principal, tool


@tool("dice.roll", level="read")
async def roll(sides: int) -> int:
    """Roll a die with that many sides and say what it shows.

    Args:
        sides: How many sides the die has.
    """
    return sides


async def main() -> None:
    ana = Principal(tenant="acme", user="ana").spawn("gambler")
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    # region spans
    from handrail.telemetry import Telemetry

    async with Handrail([roll]) as hr:
        hr.subscribe(Telemetry(tracer_provider=provider).hear)
        await hr.call("dice.roll", {"sides": 6}, principal=ana)
    # endregion
    [span] = exporter.get_finished_spans()
    assert span.name == "execute_tool dice.roll"
    provider.shutdown()


if __name__ == "__main__":
    asyncio.run(main())
