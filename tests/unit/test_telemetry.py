"""Telemetry: one span and the metrics of each call, with the names that OpenTelemetry's conventions give."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from inline_snapshot import snapshot
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import get_current_span

from handrail import Context, Handrail, Policy, Principal, Result, tool
from handrail.core.errors import ToolError
from handrail.telemetry import Telemetry
from handrail.testing import FakeClock

ANA = Principal(tenant="acme", user="ana", permissions={"*"})
BOT = ANA.spawn("bot")
SEEN: list[int] = []


@tool("text.rate", level="read")
async def rate(text: str, password: str = "") -> Result:
    """Rate a text."""
    SEEN.append(get_current_span().get_span_context().span_id)
    spent = {"cost": 0.25, "input_tokens": 100, "output_tokens": 20, "cached_tokens": 5}
    return Result(data=len(text), metadata=spent)


@tool("text.blocking", level="read")
def blocking() -> None:
    """Rate a text in a thread."""
    SEEN.append(get_current_span().get_span_context().span_id)


@tool("text.outer", level="read")
async def outer(*, ctx: Context) -> None:
    """Call another tool."""
    await ctx.call("text.rate", {"text": "inner"})


@tool("text.fail", level="read")
async def fail() -> None:
    """Fail."""
    raise ToolError("the password is pw-12345", code="NO_LUCK")


@tool("text.blurt", level="read")
async def blurt() -> None:
    """Fail with a code that is none."""
    raise ToolError("no", code="pw-12345")


@tool("text.send", level="write")
async def send() -> str:
    """Send."""
    return "sent"


@tool("text.wait", level="read")
async def wait(*, ctx: Context) -> None:
    """Wait for ever."""
    ctx.metadata(title="waiting")
    await asyncio.Event().wait()


TOOLS = [rate, blocking, outer, fail, blurt, send, wait]


class Collected:
    """What was told to an SDK that keeps everything in memory."""

    def __init__(self) -> None:
        self.exporter, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.meters = MeterProvider([self.reader])
        self.telemetry = Telemetry(self.tracers, self.meters)

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self.exporter.get_finished_spans())

    def points(self, name: str) -> list[Any]:
        data = self.reader.get_metrics_data()
        found = data.resource_metrics if data is not None else []
        metrics = [m for r in found for scope in r.scope_metrics for m in scope.metrics]
        return [point for m in metrics if m.name == name for point in m.data.data_points]

    def totals(self, name: str, *labels: str) -> dict[tuple[str, ...], float]:
        found: dict[tuple[str, ...], float] = {}
        for point in self.points(name):
            key = tuple(str(point.attributes.get(label, "")) for label in labels)
            found[key] = found.get(key, 0) + getattr(point, "value", getattr(point, "count", 0))
        return found


@pytest.fixture
def collected() -> Iterator[Collected]:
    found = Collected()
    yield found
    found.tracers.shutdown()
    found.meters.shutdown()


@pytest.mark.req("BY-21", "RC-02")
async def test_a_run_is_a_span_named_and_described_by_the_conventions(collected: Collected) -> None:
    clock = FakeClock(1_000.0)
    async with Handrail(TOOLS, clock=clock) as hr:
        hr.subscribe(collected.telemetry.hear)
        await hr.call("text.rate", {"text": "x"}, principal=BOT, session="s1", id="c1", source="mcp")
    [span] = collected.spans
    assert span.name == "execute_tool text.rate" and span.attributes is not None
    attributes = dict(span.attributes)
    assert str(attributes.pop("handrail.run.id")).startswith("run")
    assert attributes == snapshot(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "text.rate",
            "gen_ai.agent.name": "bot",
            "user.id": "ana",
            "handrail.tenant": "acme",
            "handrail.source": "mcp",
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": "c1",
            "gen_ai.conversation.id": "s1",
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.output_tokens": 20,
            "gen_ai.usage.cache_read.input_tokens": 5,
            "handrail.cost": 0.25,
        }
    )
    assert span.start_time == span.end_time == 1_000 * 10**9
    assert span.status.is_ok or span.status.is_unset


@pytest.mark.req("BY-21")
async def test_what_a_body_does_is_inside_its_span_and_a_call_inside_the_span_of_its_caller(
    collected: Collected,
) -> None:
    SEEN.clear()
    async with Handrail(TOOLS) as hr:
        hr.subscribe(collected.telemetry.hear)
        tracer = collected.tracers.get_tracer("app")
        with tracer.start_as_current_span("request") as request:
            await hr.call("text.outer", principal=BOT)
            assert get_current_span() is request
            await hr.call("text.blocking", principal=BOT)
            await hr.call("no.such", principal=BOT)
            assert get_current_span() is request
    by_name = {span.name: span for span in collected.spans}
    above = {
        name: span.parent.span_id if span.parent else None
        for name, span in by_name.items()
        if name != "request"
    }
    ids = {name: span.context.span_id for name, span in by_name.items()}
    assert above == {
        "execute_tool text.rate": ids["execute_tool text.outer"],
        "execute_tool text.outer": ids["request"],
        "execute_tool text.blocking": ids["request"],
        "execute_tool unknown": ids["request"],
    }
    assert [ids["execute_tool text.rate"], ids["execute_tool text.blocking"]] == SEEN


@pytest.mark.req("BY-21")
async def test_calls_that_run_at_once_do_not_mix_their_spans(collected: Collected) -> None:
    async with Handrail(TOOLS) as hr:
        hr.subscribe(collected.telemetry.hear)
        tracer = collected.tracers.get_tracer("app")

        async def request(number: int) -> None:
            with tracer.start_as_current_span(f"request {number}"):
                await hr.call("text.outer", principal=BOT, session=f"s{number}")

        await asyncio.gather(*(request(number) for number in range(20)))
    spans = {span.context.span_id: span for span in collected.spans}
    for span in spans.values():
        if span.name == "execute_tool text.outer":
            assert span.parent and span.attributes
            number = str(span.attributes["gen_ai.conversation.id"]).removeprefix("s")
            assert spans[span.parent.span_id].name == f"request {number}"
    assert len(spans) == 60


@pytest.mark.req("BY-21", "RC-02", "RC-05")
async def test_failures_refusals_and_cancellations_are_errors_with_their_code_and_without_words(
    collected: Collected,
) -> None:
    async with Handrail(TOOLS) as hr:
        hr.subscribe(collected.telemetry.hear)
        await hr.call("text.fail", principal=ANA)
        await hr.call("text.blurt", principal=ANA)
        await hr.call("text.rate", {"text": ["pw-12345"], "password": "pw-12345"}, principal=ANA)
        await hr.call("please tell pw-12345", principal=ANA)
        begun = asyncio.Event()
        hr.subscribe(lambda event: begun.set() if event.kind == "progress" else None)
        running = asyncio.create_task(hr.call("text.wait", principal=ANA, id="c1"))
        await begun.wait()
        await hr.cancel("c1")
        await running
    told = {span.name: (span.attributes or {}).get("error.type") for span in collected.spans}
    assert told == {
        "execute_tool text.fail": "NO_LUCK",
        "execute_tool text.blurt": "other",
        "execute_tool text.rate": "INVALID_PARAM",
        "execute_tool unknown": "TOOL_NOT_FOUND",
        "execute_tool text.wait": "CANCELLED",
    }
    assert all(not span.status.is_ok and not span.status.is_unset for span in collected.spans)
    assert "pw-12345" not in "".join(span.to_json() for span in collected.spans)
    assert collected.totals("handrail.refusals", "gen_ai.tool.name", "error.type") == {
        ("text.rate", "INVALID_PARAM"): 1,
        ("unknown", "TOOL_NOT_FOUND"): 1,
    }
    durations = collected.totals("gen_ai.client.operation.duration", "gen_ai.tool.name", "error.type")
    assert durations == {
        ("text.fail", "NO_LUCK"): 1,
        ("text.blurt", "other"): 1,
        ("text.wait", "CANCELLED"): 1,
    }


@pytest.mark.req("BY-21", "RC-04")
async def test_latency_cost_tokens_and_approvals_are_metrics_by_tool_user_agent_and_tenant(
    collected: Collected,
) -> None:
    async with Handrail(TOOLS) as hr:
        hr.subscribe(collected.telemetry.hear)
        for who in (ANA, BOT, BOT):
            await hr.call("text.rate", {"text": "x"}, principal=who)
        for verb in (hr.approvals.approve, hr.approvals.reject):
            waiting = await hr.call("text.send", principal=BOT)
            assert waiting.approval_id
            await verb(waiting.approval_id, by=ANA)
            await hr.wait(waiting.call_id, timeout=30)
    labels = ("gen_ai.tool.name", "user.id", "gen_ai.agent.name", "handrail.tenant")
    assert collected.totals("handrail.cost", *labels) == {
        ("text.rate", "ana", "", "acme"): 0.25,
        ("text.rate", "ana", "bot", "acme"): 0.5,
    }
    assert collected.totals("handrail.tokens", "gen_ai.agent.name", "gen_ai.token.type") == {
        ("", "input"): 100,
        ("", "output"): 20,
        ("", "cached"): 5,
        ("bot", "input"): 200,
        ("bot", "output"): 40,
        ("bot", "cached"): 10,
    }
    assert collected.totals("handrail.approvals", "gen_ai.tool.name", "handrail.approval") == {
        ("text.send", "asked"): 2,
        ("text.send", "approved"): 1,
        ("text.send", "rejected"): 1,
    }
    assert collected.totals("gen_ai.client.operation.duration", *labels) == {
        ("text.rate", "ana", "", "acme"): 1,
        ("text.rate", "ana", "bot", "acme"): 2,
        ("text.send", "ana", "bot", "acme"): 1,
    }
    assert collected.totals("handrail.calls", "handrail.outcome") == {("completed",): 4, ("rejected",): 1}


async def test_duplicates_and_plans_are_calls_without_a_span(collected: Collected) -> None:
    async with Handrail(TOOLS) as hr:
        hr.subscribe(collected.telemetry.hear)
        for _ in range(2):
            await hr.call("text.rate", {"text": "x"}, principal=ANA, idempotency_key="k")
    async with Handrail(TOOLS, policy=Policy(plan=True)) as hr:
        hr.subscribe(collected.telemetry.hear)
        await hr.call("text.send", principal=ANA)
    assert collected.totals("handrail.calls", "handrail.outcome") == {
        ("completed",): 1,
        ("duplicate",): 1,
        ("planned",): 1,
    }
    assert len(collected.spans) == 1


@pytest.mark.req("BY-21")
def test_opentelemetry_is_loaded_only_when_it_is_asked_for_and_its_absence_is_told() -> None:
    code = """
import sys
sys.modules["opentelemetry"] = None
import handrail, handrail.telemetry
try:
    handrail.telemetry.Telemetry()
except handrail.UsageError as error:
    print(error)
"""
    code = code.replace("handrail.UsageError", "handrail.core.errors.UsageError")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "Telemetry needs OpenTelemetry. Install it: pip install 'handrail[otel]'.\n"
