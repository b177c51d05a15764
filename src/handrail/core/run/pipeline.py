"""run: the one way every call goes, from top to bottom.

find → see → repair + validate → duplicate? → decide → approval → claim → cache → tell started → invoke →
normalise + check output → record change → tell finished → release
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from handrail.core.define import context
from handrail.core.define.call import Call, Outcome
from handrail.core.define.context import Context
from handrail.core.define.decision import Decision
from handrail.core.define.result import Result
from handrail.core.define.secrecy import masked, scrubbed
from handrail.core.define.tool import Tool
from handrail.core.errors import ToolError
from handrail.core.guard.admit import Admitted, admit
from handrail.core.guard.decide import axes, is_dynamic
from handrail.core.ids import new_id
from handrail.core.run import refusal
from handrail.core.run.approve import Grant, pass_gate
from handrail.core.run.duplicate import earlier_outcome
from handrail.core.run.house import House
from handrail.core.run.invoke import Ended, invoke
from handrail.core.run.normalise import normalise
from handrail.core.run.refusal import Refusal
from handrail.core.run.running import Running
from handrail.core.run.seek import seek
from handrail.core.run.tale import Tale
from handrail.core.tell.events import ToolStarted

_log = logging.getLogger("handrail.run")
_NO_EXTRA: dict[str, Any] = {}


async def run(call: Call, raw: Any, house: House, grant: Grant | None = None) -> Outcome:
    """One call through every stage. `call` names tool, principal and id; `raw` are its arguments."""
    tale = Tale(call, raw, house)
    principal = call.principal
    assert principal is not None and call.id is not None

    tool = house.registry.snapshot().names.get(call.tool)
    if tool is None or not tool.ready:
        found = await seek(call, house)
        if isinstance(found, Refusal):
            return tale.refuse(found)
        tool = found

    seen = house.guard.see(tool, principal)
    if seen.verdict == "deny":
        return tale.refuse(await hidden_or_denied(seen, tool, call, house))
    tale.tool = tool
    if call.digest is not None and call.digest != tool.digest:
        return tale.refuse(refusal.stale(tool))

    admitted = admit(tool, raw, call.tool, house.repairing)
    if not isinstance(admitted, Admitted):
        return tale.refuse(refusal.invalid(tool, admitted))
    tale.admitted = admitted

    if call.idempotency_key is not None and grant is None:
        earlier = await earlier_outcome(tale)
        if earlier is not None:
            return earlier

    if call.id in house.running:
        return tale.refuse(refusal.broken("CALL_ID_IN_USE", "The call id is in use", _ID_IN_USE, "find"))
    running = house.running[call.id] = Running(call.id)
    try:
        decision = tale.decision = house.guard.decide(tool, admitted.values, principal, call.source)
        if decision.verdict != "allow":
            passed = await pass_gate(tale, decision, grant)
            if isinstance(passed, Outcome):
                return passed
            admitted, tool = passed
        return await _dispatch(tale, tool, admitted, running)
    except asyncio.CancelledError:
        ours = running.ending is not None and running.take_back()
        ended = tale.cancelled(running.reason or "the caller was cancelled", ignored=False)
        if ours:
            return ended
        raise
    finally:
        tale.close()
        del house.running[call.id]
        running.close()


_ID_IN_USE = "Another call with this id is running. Give each call an id of its own, or none."


async def hidden_or_denied(decision: Decision, tool: Tool, call: Call, house: House) -> Refusal:
    """A hidden tool answers like an unknown one."""
    if decision.code == "TOOL_NOT_FOUND":
        return refusal.not_found(call.tool, await house.similar(call) if house.similar else ())
    return refusal.denied(decision, tool)


async def _dispatch(tale: Tale, tool: Tool, admitted: Admitted, running: Running) -> Outcome:
    call, house = tale.call, tale.house
    assert call.principal is not None and call.id is not None

    if tool.writes is not None:
        busy = tale.claim(tool, admitted.values)
        if busy is not None:
            return tale.refuse(busy)

    run_id = new_id("run")
    ctx = Context(
        call,
        call.principal,
        call.id,
        run_id,
        running.signal,
        house.guard.policy.grants(),
        house.host,
        _NO_EXTRA if house.create_context is None else house.create_context(tool.id, call.id),
    )
    token = context.enter(ctx)
    try:
        cached = await _cached(house, tool, admitted, ctx) if house.hooks else None

        shown = masked(admitted.args, tool.secrets) if tool.secrets else admitted.args
        started = ToolStarted(call, tool.id, house.clock.now(), run_id, shown, admitted.repairs)
        effectful = _level(tool, admitted.values) in ("write", "destructive")
        if effectful or call.source == "api":
            try:
                tale.mark_dispatched()
                await house.teller.commit(started)
            except Exception:
                _log.exception("the event log did not take tool.started, so %s was not run", tool.id)
                return tale.refuse(refusal.broken("LOG_UNAVAILABLE", "Not run", _NO_LOG, "log"))
        else:
            house.teller.tell(started)
        tale.run_id = run_id

        if cached is not None:
            return tale.end("completed", cached.with_metadata(cached=True))
        timeout = tool.timeout or house.timeout
        if timeout is not None:
            running.limit(timeout)
        value = await invoke(tool, admitted.values, ctx, running, house.place)
        if value.__class__ is Ended:
            return _ended(tale, tool, value, running, effectful)

        result = normalise(value, tool)
        for hook in house.hooks:
            result = await _recorded(hook, tool, admitted, ctx, result)
        if running.secrets:
            result = without_secrets(result, running.secrets)
        return tale.end("completed" if result.success else "failed", result)
    finally:
        context.leave(token)


_NO_LOG = "The event log cannot be written, so nothing was run. Try again, or tell whoever runs this system."


def _level(tool: Tool, values: Any) -> str:
    return axes(tool, values)[0] if is_dynamic(tool) else tool.level


async def _cached(house: House, tool: Tool, admitted: Admitted, ctx: Context) -> Result | None:
    for hook in house.hooks:
        if (result := await hook.before(tool, admitted.values, ctx)) is not None:
            return result
    return None


async def _recorded(hook: Any, tool: Tool, admitted: Admitted, ctx: Context, result: Result) -> Result:
    """The body has had its effect: a hook that fails now is reported beside the result, not instead of it."""
    try:
        return await hook.after(tool, admitted.values, ctx, result)  # type: ignore[no-any-return]
    except Exception as error:
        _log.exception("a hook failed after %s", tool.id)
        return result.with_metadata(warning=f"recording failed: {error}")


def _ended(tale: Tale, tool: Tool, ended: Ended, running: Running, effectful: bool) -> Outcome:
    if ended.still is not None:
        tale.keep_claim_until(ended.still)
    if ended.outside:
        tale.cancelled("the caller was cancelled", ended.ignored)
        raise asyncio.CancelledError
    if ended.ending == "cancelled":
        return tale.cancelled(running.reason or "cancelled", ended.ignored)
    if ended.ending == "timeout":
        return tale.end("failed", _timed_out(tool, running.reason or "timed out", ended.ignored))
    if ended.unknown and effectful and not tool.idempotent:
        unknown = refusal.unknown_outcome(f"{ended.error}")
        return tale.end(unknown.status, unknown.result)
    error = ended.error
    if not isinstance(error, ToolError):
        _log.info("tool %s raised", tool.id, exc_info=error)
    said = scrubbed(str(error) or "Unknown error", running.secrets or ())
    code = error.code if isinstance(error, ToolError) else "TOOL_FAILED"
    return tale.end("failed", Result.fail(said, code=code, summary=f"{tool.name} failed"))


def _timed_out(tool: Tool, reason: str, ignored: bool) -> Result:
    error = f"{tool.id} {reason}."
    if ignored:
        error += " It did not heed the interruption: its effect may have happened, or still happen."
    return Result.fail(
        error,
        code="TIMEOUT",
        summary=f"{tool.name} took too long",
        metadata={"ignored": True} if ignored else {},
    )


def without_secrets(result: Result, secrets: set[str]) -> Result:
    """The result with none of the secrets in it that the body was given."""
    return Result(
        result.success,
        scrubbed(result.data, secrets),
        scrubbed(result.summary, secrets),
        scrubbed(result.markdown, secrets),
        scrubbed(result.error, secrets),
        result.code,
        scrubbed(result.title, secrets),
        scrubbed(result.metadata, secrets),
        scrubbed(result.output, secrets),
        result.attachments,
    )
