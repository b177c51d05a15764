"""run: the one way every call goes, from top to bottom.

find → see → repair + validate → duplicate? → decide → approval → claim → cache → tell started → invoke →
normalise + check output → record change → tell finished → release
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

from handrail.core.define import context
from handrail.core.define.call import BoundCall, Outcome
from handrail.core.define.context import Context
from handrail.core.define.levels import SOURCES
from handrail.core.define.redaction import redact_decision
from handrail.core.define.result import make_result
from handrail.core.define.tool import Tool
from handrail.core.find.registry import Snapshot
from handrail.core.find.visibility import TenantView
from handrail.core.guard.admit import Admitted, admit
from handrail.core.guard.risk import is_effectful
from handrail.core.ids import new_id
from handrail.core.run import refusals
from handrail.core.run.approvals.gate import pass_gate
from handrail.core.run.call_state import CallState, Resume, new_call_state
from handrail.core.run.duplicate import earlier_outcome, outcome_under_approval_key
from handrail.core.run.failures import failed, interrupted, stopped, without_secrets
from handrail.core.run.find_tool import find_tool, hidden_or_denied
from handrail.core.run.hooks import NO_HOOKS, after_hooks, cached_result
from handrail.core.run.interrupt import NO_RARE_STATE
from handrail.core.run.invoke import invoke
from handrail.core.run.normalise import is_bare_object, normalise
from handrail.core.run.refusals import Refusal
from handrail.core.run.retries import run_with_retries
from handrail.core.run.runtime import Runtime
from handrail.core.tell.events import ToolStarted, bare_completed
from handrail.core.tell.log import EventNote

_log = logging.getLogger("handrail.run")
_SESSIONS = frozenset({str, type(None)})


def run(
    call: BoundCall, raw: Any, runtime: Runtime, resume: Resume | None = None
) -> Coroutine[Any, Any, Outcome]:
    """One call through every stage. `call` names tool, principal and id; `raw` are its arguments."""
    if call.durable_start:
        return _run_with_durable_start(call, raw, runtime, resume or Resume())
    return _run_stages(call, raw, runtime, resume)


async def _run_with_durable_start(call: BoundCall, raw: Any, runtime: Runtime, resume: Resume) -> Outcome:
    """The outcome once the row of its run id is durable; a read does not wait for that beforehand."""
    outcome = await _run_stages(call, raw, runtime, resume)
    if resume.state is None or resume.state.started is None:
        return outcome
    try:
        await runtime.teller.log.flush(resume.state.started)
    except Exception:
        _log.exception("the event log did not take tool.started, so %s is not answered", call.tool)
        return Outcome("refused", refusals.no_log().result, call.id, call.tool)
    return outcome


async def _record_start(
    state: CallState, tool: Tool, beginning: EventNote, resume: Resume | None
) -> Refusal | None:
    """Record that the body begins, durably where that must be known afterwards; or why it may not begin."""
    call, runtime = state.call, state.runtime
    keyed = call.idempotency_key is not None
    effectful = (keyed or not tool.quiet) and is_effectful(tool, state.values, keyed)
    # a log that writes both rows of a read as one group is waited for once, before the answer
    at_once = keyed or not runtime.groups_reads or (resume is not None and resume.is_followed)
    if effectful or (call.durable_start and at_once):
        refusal = await state.commit_start(beginning, tool.idempotent or not effectful)
        if refusal is None:
            state.check()
        return refusal
    if call.durable_start:
        return state.record_start(beginning)
    runtime.teller.tell(beginning)
    return None


async def _run_stages(call: BoundCall, raw: Any, runtime: Runtime, resume: Resume | None) -> Outcome:
    state = new_call_state(call, raw, runtime)
    principal = call.principal
    if call.id.__class__ is not str or call.session.__class__ not in _SESSIONS:
        return new_call_state(replace(call, id=str(call.id), session=None), None, runtime).refuse(
            refusals.bad_names()
        )
    running_key = (principal.tenant, call.id)
    if runtime.running.setdefault(running_key, state) is not state:
        return state.refuse(refusals.id_in_use())
    token = None
    watchers = runtime.watchers
    watched = NO_HOOKS
    try:
        if resume is not None or call.parent is not None:
            state.adopt(resume)
        tools: Snapshot | TenantView | None
        if runtime.resolver is None:
            tools = runtime.registry.newest or runtime.registry.snapshot()
        else:
            tools = runtime.resolver.at_hand(principal)
        tool = tools.find(call.tool) if tools is not None and call.tool.__class__ is str else None
        if tool is None or tool.init is not None:
            tool_or_refusal = await find_tool(call.tool, principal, runtime, call.source)
            if isinstance(tool_or_refusal, Refusal):
                return state.refuse(tool_or_refusal)
            tool = tool_or_refusal

        decision = runtime.guard.remembered(tool, principal, call.source)
        if decision is None:
            if call.source not in SOURCES:
                return state.refuse(refusals.unknown_source(call.source))
            seen = runtime.guard.see(tool, principal)
            if seen.verdict == "deny":
                refusal = await hidden_or_denied(seen, tool, call.tool, principal, runtime, call.source)
                return state.refuse(refusal)
        state.tool = tool
        if call.digest is not None and call.digest != tool.digest:
            return state.refuse(refusals.stale(tool))

        if watchers is not None:
            watched = watchers.of(tool)
        flat = tool.flat_validate
        if flat is not None and raw.__class__ is dict and watched.plain and (values := flat(raw)) is not None:
            state.args = raw.copy() if tool.flat_converts or len(values) != len(raw) else values
            state.values = values
        else:
            admitted = admit(tool, raw, call.tool, runtime.repairing)
            if not isinstance(admitted, Admitted):
                return state.refuse(refusals.invalid(tool, admitted))
            state.admitted = admitted

        if call.idempotency_key is not None or (resume is not None and resume.looks_back):
            earlier = await earlier_outcome(state, tool, resume)
            if earlier is not None:
                return earlier

        if decision is None:
            decision = runtime.guard.decide(tool, state.values, principal, call.source)
            if tool.secrets or state.rare.secrets:
                decision = redact_decision(decision, state.args, tool.secrets, state.secrets)
        state.decision = decision
        grant = resume.grant if resume is not None else None
        if decision.verdict != "allow" or grant is not None:
            if decision.verdict == "ask" and grant is None and call.approval_key is not None:
                earlier = await outcome_under_approval_key(state, tool)
                if earlier is not None:
                    return earlier
                call = state.call
            approved = await pass_gate(state, tool, decision, grant)
            if isinstance(approved, Outcome):
                return approved
            state.admitted, tool = approved
            if watchers is not None:
                watched = watchers.of(tool)
        body, args, values = tool.body, state.args, state.values
        if body is None or args is None:
            raise LookupError(f"{tool.id} has no body to run")

        if resume is not None and not await resume.enter_batch(tool, values, args, runtime.init.working_dir):
            return state.refuse(refusals.held_up(tool))
        if tool.writes is not None and (busy := state.claim(tool, values)) is not None:
            return state.refuse(busy)

        run_id = state.next_run_id = (resume and resume.run_id) or new_id("run")
        if runtime.create_context is not None:
            state.extra = runtime.create_context(tool.id, call.id)
        token = context.enter(state)
        cached = None
        hooks = watched.hooks
        if hooks:
            cached = await cached_result(hooks, tool, values, Context(state))
            state.check()

        shown = state.show(args, tool) if tool.secrets or state.rare.secrets else args
        beginning: EventNote = (ToolStarted, call, tool.id, runtime.clock.now(), run_id, shown, state.repairs)
        if resume is not None and resume.run_id is not None:
            pass  # who began the run has recorded its start
        elif tool.quiet and not call.durable_start and call.idempotency_key is None:
            runtime.teller.tell(beginning)
        elif (busy := await _record_start(state, tool, beginning, resume)) is not None:
            return state.refuse(busy)
        state.run_id = run_id
        if cached is not None:
            return state.complete(cached)

        timeout = tool.timeout or runtime.timeout
        if timeout:
            state.limit(timeout)
        state.body_began = True
        retry = tool.retry or runtime.retry
        try:
            if retry is not None:
                value = await run_with_retries(retry, tool, body, values, state)
            elif tool.isolation is not None or not body.is_async:
                value = await invoke(tool, body, values, Context(state), state)
            elif body.bare and values.__class__ is dict:
                value = await body.fn(**values)
            else:
                value = await body.call(values, Context(state))
        except (Exception, SystemExit) as error:
            return await stopped(state) if state.ending is not None else failed(state, tool, values, error)
        except asyncio.CancelledError as error:
            if state.ending is not None or state.is_cancelled_from_outside():
                raise
            return failed(state, tool, values, error)
        if state.ending is not None:
            return await stopped(state, ignored=True)

        if state.rare is NO_RARE_STATE and not hooks:
            if value.__class__ is dict:
                if is_bare_object(value, tool):
                    return state.complete(make_result(True, value.copy()), bare_completed)
            elif value.__class__ in tool.plain_outputs:
                return state.complete(make_result(True, value), bare_completed)
        result = normalise(value, tool)
        if state.rare.tries:
            result = result.with_metadata(attempts=state.attempt)
        if state.rare.secrets:
            result = without_secrets(result, state.rare.secrets)
        if hooks:
            result = await after_hooks(hooks, tool, values, Context(state), result)
            if state.ending is not None:
                return await stopped(state, ignored=True)
            if state.rare.secrets:
                result = without_secrets(result, state.rare.secrets)
        if result.success:
            return state.complete(result)
        return state.fail("failed", without_secrets(result, state.hidden) if tool.secrets else result)
    except Exception as error:
        if state.ending is not None and state.outcome is None:
            return await stopped(state)
        _log.exception("call %s of %s failed inside Handrail or one of its ports", call.id, call.tool)
        return state.outcome or state.refuse(refusals.internal(call.tool, error))
    except BaseException as stop:
        if state.outcome is not None:
            raise
        ours = isinstance(stop, asyncio.CancelledError) and state.ending is not None and state.take_back()
        ended = interrupted(state)
        if ours:
            return ended
        raise
    finally:
        del runtime.running[running_key]
        if state.rare is not NO_RARE_STATE:
            state.close()
        if token is not None:
            context.leave(token)
