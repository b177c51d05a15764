"""run: the one way every call goes, from top to bottom.

find → see → repair + validate → duplicate? → decide → approval → claim → cache → tell started → invoke →
normalise + check output → record change → tell finished → release
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Any

from handrail.core.define import context
from handrail.core.define.call import Call, Outcome
from handrail.core.define.context import Context
from handrail.core.define.permission import SOURCES
from handrail.core.define.result import make_result
from handrail.core.find.registry import Snapshot
from handrail.core.find.view import TenantView
from handrail.core.guard.admit import Admitted, admit
from handrail.core.guard.axes import is_effectful
from handrail.core.ids import new_id
from handrail.core.run import refusal
from handrail.core.run.approve import pass_gate
from handrail.core.run.aside import NOTHING_ASIDE
from handrail.core.run.brought import Brought
from handrail.core.run.discreet import discreet
from handrail.core.run.duplicate import earlier_outcome
from handrail.core.run.ending import failed, interrupted, stopped, without_secrets
from handrail.core.run.hooks import UNWATCHED, cached_result, recorded
from handrail.core.run.house import House
from handrail.core.run.invoke import invoke
from handrail.core.run.normalise import normalise
from handrail.core.run.refusal import Refusal
from handrail.core.run.retrying import attempts
from handrail.core.run.seek import hidden_or_denied, seek
from handrail.core.run.tale import begin
from handrail.core.tell.events import ToolStarted, bare_completed
from handrail.core.tell.log import Note

_log = logging.getLogger("handrail.run")
_SESSIONS = frozenset({str, type(None)})


async def run(call: Call, raw: Any, house: House, brought: Brought | None = None) -> Outcome:
    """One call through every stage. `call` names tool, principal and id; `raw` are its arguments."""
    tale = begin(call, raw, house)
    principal = call.principal
    assert principal is not None
    if type(call.id) is not str or type(call.session) not in _SESSIONS:
        return begin(replace(call, id=str(call.id), session=None), None, house).refuse(refusal.bad_names())
    if house.running.setdefault((principal.tenant, call.id), tale) is not tale:
        return tale.refuse(refusal.id_in_use())
    token = None
    watchers = house.watchers
    watched = UNWATCHED
    try:
        if brought is not None or call.parent is not None:
            tale.bring(brought)
        tools: Snapshot | TenantView | None
        if house.resolver is None:
            tools = house.registry.newest or house.registry.snapshot()
        else:
            tools = house.resolver.at_hand(principal)
        tool = tools.find(call.tool) if tools is not None and type(call.tool) is str else None
        if tool is None or tool.init is not None:
            found = await seek(call, house)
            if isinstance(found, Refusal):
                return tale.refuse(found)
            tool = found

        decision = house.guard.remembered(tool, principal, call.source)
        if decision is None:
            if call.source not in SOURCES:
                return tale.refuse(refusal.unknown_source(call.source))
            seen = house.guard.see(tool, principal)
            if seen.verdict == "deny":
                return tale.refuse(await hidden_or_denied(seen, tool, call, house))
        tale.tool = tool
        if call.digest is not None and call.digest != tool.digest:
            return tale.refuse(refusal.stale(tool))

        if watchers is not None:
            watched = watchers.of(tool)
        flat = tool.flat_validate
        if flat is not None and type(raw) is dict and watched.plain and (values := flat(raw)) is not None:
            tale.args = values if len(values) == len(raw) else raw.copy()
            tale.values = values
        else:
            admitted = admit(tool, raw, call.tool, house.repairing)
            if not isinstance(admitted, Admitted):
                return tale.refuse(refusal.invalid(tool, admitted))
            tale.admitted = admitted

        if call.idempotency_key is not None or (brought is not None and brought.looks_back):
            earlier = await earlier_outcome(tale, brought)
            if earlier is not None:
                return earlier

        if decision is None:
            decision = house.guard.decide(tool, tale.values, principal, call.source)
            if tool.secrets or tale.aside.secrets:
                decision = discreet(decision, tool, tale.args, tale.secrets)
        tale.decision = decision
        if decision.verdict != "allow" or (brought is not None and brought.grant is not None):
            passed = await pass_gate(tale, decision, brought.grant if brought is not None else None)
            if isinstance(passed, Outcome):
                return passed
            tale.admitted, tool = passed
            if watchers is not None:
                watched = watchers.of(tool)
        body, args, values = tool.body, tale.args, tale.values
        assert body is not None and args is not None

        if brought is None or brought.takes_turn(tool, values, args, house.init.working_dir):
            pass
        elif not await brought.in_turn():
            return tale.refuse(refusal.held_up(tool))
        if tool.writes is not None and (busy := tale.claim(tool, values)) is not None:
            return tale.refuse(busy)

        run_id = tale.next_run_id = (brought and brought.run_id) or new_id("run")
        if house.create_context is not None:
            tale.extra = house.create_context(tool.id, call.id)
        token = context.enter(tale)
        cached = None
        hooks = watched.hooks
        if hooks:
            cached = await cached_result(hooks, tool, values, Context(tale))
            tale.check()

        shown = tale.show(args, tool) if tool.secrets or tale.aside.secrets else args
        beginning: Note = (ToolStarted, call, tool.id, house.clock.now(), run_id, shown, tale.repairs)
        if brought is not None and brought.run_id is not None:
            pass  # whoever began the run told its start
        elif call.source == "api" or (not tool.quiet and is_effectful(tool, values)):
            busy = await tale.committed(beginning, tool.idempotent or not is_effectful(tool, values))
            if busy is not None:
                return tale.refuse(busy)
            tale.check()
        else:
            house.teller.tell(beginning)
        tale.run_id = run_id
        if cached is not None:
            return tale.complete(cached)

        timeout = tool.timeout or house.timeout
        if timeout:
            tale.limit(timeout)
        tale.begun = True
        retry = tool.retry or house.retry
        try:
            if retry is not None:
                value = await attempts(retry, tool, body, values, tale)
            elif tool.isolation is not None or not body.is_async:
                value = await invoke(tool, body, values, Context(tale), tale)
            elif body.bare and values.__class__ is dict:
                value = await body.fn(**values)
            else:
                value = await body.call(values, Context(tale))
        except (Exception, SystemExit) as error:
            return await stopped(tale) if tale.ending is not None else failed(tale, tool, values, error)
        except asyncio.CancelledError as error:
            if tale.ending is not None or tale.is_cancelled_from_outside():
                raise
            return failed(tale, tool, values, error)
        if tale.ending is not None:
            return await stopped(tale, ignored=True)

        if value.__class__ in tool.plain_outputs and not (tale.aside.secrets or hooks):
            return tale.complete(make_result(True, value), bare_completed)
        result = normalise(value, tool)
        if tale.aside.tries:
            result = result.with_metadata(attempts=tale.attempt)
        if tale.secrets:
            result = without_secrets(result, tale.secrets)
        if hooks:
            result = await recorded(hooks, tool, values, Context(tale), result)
            if tale.ending is not None:
                return await stopped(tale, ignored=True)
            if tale.secrets:
                result = without_secrets(result, tale.secrets)
        if result.success:
            return tale.complete(result)
        return tale.fail("failed", without_secrets(result, tale.hidden) if tool.secrets else result)
    except Exception as error:
        if tale.ending is not None and tale.outcome is None:
            return await stopped(tale)
        _log.exception("call %s of %s failed inside Handrail or one of its ports", call.id, call.tool)
        return tale.outcome or tale.refuse(refusal.internal(call.tool, error))
    except BaseException as stop:
        if tale.outcome is not None:
            raise
        ours = isinstance(stop, asyncio.CancelledError) and tale.ending is not None and tale.take_back()
        ended = interrupted(tale)
        if ours:
            return ended
        raise
    finally:
        del house.running[principal.tenant, call.id]
        if tale.aside is not NOTHING_ASIDE:
            tale.leave()
        if token is not None:
            context.leave(token)
