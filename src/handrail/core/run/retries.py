"""Retrying: one body, several attempts. The call, its run, its claims and its key stay the same."""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import Awaitable, Callable
from random import random
from typing import Any, TypeVar

from handrail.core.define.context import Context
from handrail.core.define.redaction import redact_values
from handrail.core.define.result import Result
from handrail.core.define.retry import Retry, retry_of
from handrail.core.define.tool import Body, Tool
from handrail.core.guard.risk import is_effectful
from handrail.core.run.call_state import CallState
from handrail.core.run.invoke import invoke
from handrail.core.run.normalise import normalise
from handrail.core.run.process_child import words_of
from handrail.core.tell.events import Retrying

T = TypeVar("T")


async def with_retry(fn: Callable[[], T | Awaitable[T]], retry: Retry | int = 3) -> T:
    """Call a function of your own until it succeeds: `await with_retry(fetch, Retry(on=ConnectionError))`.

    What the last attempt returned or raised comes back. A cancellation stops it, also in a pause.
    """
    rules = retry_of(retry)

    async def attempt() -> T:
        value = fn()
        return await value if inspect.isawaitable(value) else value

    def pause_after(count: int, error: Exception | None, value: Any) -> float | None:
        failure = error if error is not None else value
        has_rules = isinstance(failure, (Exception, Result))
        return rules.pause(count, failure, random()) if has_rules else None

    return await _persist(attempt, pause_after)


async def run_with_retries(retry: Retry, tool: Tool, body: Body, values: Any, state: CallState) -> Any:
    """What a body returns or raises at last. Each attempt gets the arguments as they were at first."""
    original = _copied(values, tool)
    once = is_effectful(tool, values) and not tool.idempotent  # asked before a body can change the values

    async def attempt() -> Any:
        arguments = values if state.attempt == 1 else _copied(original, tool)
        return await invoke(tool, body, arguments, Context(state), state)

    def pause_after(count: int, error: Exception | None, value: Any) -> float | None:
        failure = error if error is not None else _failure_in(value, retry, tool)
        if failure is None or state.ending is not None or state.is_cancelled_from_outside():
            return None
        pause = retry.pause(count, failure, random())
        if pause is None or once:
            return None
        message = failure.error if isinstance(failure, Result) else words_of(failure)
        _repeat(state, count, message or "Unknown error", pause)
        return pause

    def next_attempt() -> None:
        state.attempt += 1

    value = await _persist(attempt, pause_after, next_attempt)
    # a result has metadata, in which the attempts can be told
    return Result(True, value) if state.tries and value.__class__ in tool.plain_outputs else value


def _copied(values: Any, tool: Tool) -> Any:
    """Arguments that a body cannot spoil. Flat ones it cannot reach; what has no copy is given as it is."""
    if tool.flat_validate is not None and values.__class__ is dict:
        return values
    try:
        return copy.deepcopy(values)
    except Exception:
        return values


def _failure_in(value: Any, retry: Retry, tool: Tool) -> Result | None:
    """The failure that a body returned; not looked for where no code would be tried again."""
    if not retry.codes:
        return None
    result = normalise(value, tool)
    return None if result.success else result


def _repeat(state: CallState, count: int, message: str, pause: float) -> None:
    """Note why an attempt failed, and tell whoever listens that it will be repeated."""
    runtime = state.runtime
    error = redact_values(message, state.hidden)
    state.tries = (*state.tries, error)
    fields = (state.call, state.tool_id, runtime.clock.now(), state.next_run_id, count, error, pause)
    runtime.teller.mention((Retrying, *fields))


async def _persist(
    attempt: Callable[[], Awaitable[T]],
    pause_after: Callable[[int, Exception | None, T | None], float | None],
    next_attempt: Callable[[], object] = lambda: None,
) -> T:
    """Attempt it, pause and attempt it again, as long as there is to be another pause."""
    count = 1
    while True:
        try:
            value = await attempt()
        except Exception as error:
            pause = pause_after(count, error, None)
            if pause is None:
                raise
        else:
            pause = pause_after(count, None, value)
            if pause is None:
                return value
        await asyncio.sleep(pause)
        count += 1
        next_attempt()
