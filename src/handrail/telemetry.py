"""Telemetry: spans and metrics of calls for OpenTelemetry, under its conventions for generative AI.

`hr.subscribe(Telemetry().hear)`, or the setting `telemetry = true`. Names and numbers are told, never
arguments, results or messages. Needs `opentelemetry-api`; what is done with spans and metrics is up to the
SDK that the process has set up, and without one nothing is.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from handrail.core.errors import UsageError
from handrail.core.tell.counts import TOKENS, Counts, measure
from handrail.core.tell.events import Event, ToolCancelled, ToolCompleted, ToolFailed, ToolStarted
from handrail.core.tell.usage import UNKNOWN_NAME, usage_key

if TYPE_CHECKING:
    from contextvars import Token

    from opentelemetry.context import Context
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Span, TracerProvider

Attributes = dict[str, str]
Ended = ToolCompleted | ToolFailed | ToolCancelled

_OPERATION = "execute_tool"
_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
"""The classes of durations that the conventions want."""
_MAX_OPEN_SPANS = 10_000
"""Spans of runs that began and of which no end was heard yet."""


class Telemetry:
    """A listener that makes one span and the metrics of each call."""

    def __init__(
        self, tracer_provider: TracerProvider | None = None, meter_provider: MeterProvider | None = None
    ) -> None:
        """With the providers that the process has set up, unless others are given."""
        try:
            from opentelemetry import context, metrics, trace
        except ImportError:
            remedy = "Telemetry needs OpenTelemetry. Install it: pip install 'handrail[otel]'."
            raise UsageError(remedy) from None
        self._context, self._trace = context, trace
        self._tracer = trace.get_tracer("handrail", tracer_provider=tracer_provider)
        self._open: dict[str, tuple[Span, Token[Context]]] = {}
        self._lock = threading.Lock()
        meter = metrics.get_meter("handrail", meter_provider=meter_provider)
        self._duration = meter.create_histogram(
            "gen_ai.client.operation.duration",
            "s",
            "How long a tool ran",
            explicit_bucket_boundaries_advisory=list(_SECONDS),
        )
        self._calls = meter.create_counter("handrail.calls", "{call}", "Calls by how they ended")
        self._approvals = meter.create_counter(
            "handrail.approvals", "{approval}", "Questions to people, and how they were answered"
        )
        self._refusals = meter.create_counter("handrail.refusals", "{call}", "Calls that were refused")
        self._cost = meter.create_counter("handrail.cost", "{unit}", "What results say that they cost")
        self._tokens = meter.create_counter("handrail.tokens", "{token}", "Tokens that results speak of")

    def hear(self, event: Event) -> None:
        """Hear of an event; give this to `hr.subscribe`."""
        if isinstance(event, ToolStarted):
            self._begin(event)
        elif isinstance(event, (ToolCompleted, ToolFailed, ToolCancelled)):
            self._end(event)
        if amounts := measure(event):
            self._count(event, Counts(amounts))

    def _begin(self, event: ToolStarted) -> None:
        """Open the span of a run, and let what the body does happen inside it."""
        span = self._span(event, event.at)
        token = self._context.attach(self._trace.set_span_in_context(span))
        with self._lock:
            self._open[event.run_id] = (span, token)
            if len(self._open) > _MAX_OPEN_SPANS:
                self._open.pop(next(iter(self._open)))[0].end()

    def _end(self, event: Ended) -> None:
        with self._lock:
            begun = self._open.pop(event.run_id or "", None)
        if begun is None:
            span = self._span(event, event.at - event.duration_ms / 1000)
        else:
            span, token = begun
            if self._trace.get_current_span() is span:
                self._context.detach(token)
        if not event.result.success:
            span.set_attribute("error.type", _error_type(event))
            span.set_status(self._trace.StatusCode.ERROR)
        counts = Counts(measure(event))
        for name in TOKENS:
            if counts[name]:
                span.set_attribute(_SPAN_TOKENS[name], counts[name])
        if counts["cost"]:
            span.set_attribute("handrail.cost", counts.cost)
        span.end(_nanoseconds(event.at))

    def _span(self, event: Event, at: float) -> Span:
        attributes = _attributes(event)
        attributes |= {
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": event.call_id,
            "gen_ai.conversation.id": event.session,
        }
        if (run_id := getattr(event, "run_id", None)) is not None:
            attributes["handrail.run.id"] = run_id
        name = f"{_OPERATION} {attributes['gen_ai.tool.name']}"
        return self._tracer.start_span(name, attributes=attributes, start_time=_nanoseconds(at))

    def _count(self, event: Event, counts: Counts) -> None:
        attributes = _attributes(event)
        for how in ("asked", "approved", "rejected", "expired", "answered"):
            if counts[how]:
                self._approvals.add(1, {**attributes, "handrail.approval": how})
        if counts["calls"]:
            self._calls.add(1, {**attributes, "handrail.outcome": _outcome(counts)})
        for code in counts.refusals:
            self._refusals.add(1, {**attributes, "error.type": code})
        if counts["runs"]:
            failed = isinstance(event, (ToolFailed, ToolCancelled))
            error = {"error.type": _error_type(event)} if failed else {}
            self._duration.record(counts["us"] / 1e6, attributes | error)
        if counts["cost"]:
            self._cost.add(counts.cost, attributes)
        for name in TOKENS:
            if counts[name]:
                kind = name.removesuffix("_tokens")
                self._tokens.add(counts[name], {**attributes, "gen_ai.token.type": kind})


_SPAN_TOKENS = {
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "cached_tokens": "gen_ai.usage.cache_read.input_tokens",
}
_OUTCOMES = ("completed", "answered", "failed", "unclear", "refused", "rejected", "cancelled", "duplicates")


def _outcome(counts: Counts) -> str:
    return next((name for name in _OUTCOMES if counts[name]), "planned").removesuffix("s")


def _attributes(event: Event) -> Attributes:
    """By what things are counted; a name that is no tool's is not passed on."""
    cell = usage_key(event)
    attributes = {
        "gen_ai.operation.name": _OPERATION,
        "gen_ai.tool.name": "unknown" if cell.tool == UNKNOWN_NAME else cell.tool,
        "gen_ai.agent.name": cell.agent,
        "user.id": cell.user,
        "handrail.tenant": cell.tenant,
        "handrail.source": cell.source,
    }
    return {name: value for name, value in attributes.items() if value}


def _error_type(event: Event) -> str:
    """The code of a failure, as far as it is one."""
    counts = Counts(measure(event))
    return next(iter({**counts.refusals, **counts.failures}), None) or (
        "REJECTED" if counts["rejected"] else "CANCELLED"
    )


def _nanoseconds(at: float) -> int:
    return max(int(at * 1_000_000_000), 0)
