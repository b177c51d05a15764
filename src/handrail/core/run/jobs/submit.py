"""submit: a call whose caller does not wait for it, or a graph of them."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from typing import Any

from handrail.core.define.call import BoundCall, Outcome
from handrail.core.define.decision import Decision
from handrail.core.define.json_values import private_copy
from handrail.core.define.result import Result
from handrail.core.define.schema import digest_of
from handrail.core.errors import StorageError
from handrail.core.guard.idempotency import key_id
from handrail.core.ids import new_id
from handrail.core.run import refusals
from handrail.core.run.call_state import new_call_state
from handrail.core.run.find_tool import admit_call
from handrail.core.run.jobs.graph import GraphError, Task, check_graph
from handrail.core.run.jobs.job import FINAL, Job, JobEntry, JobKind, Jobs
from handrail.core.run.pipeline import run
from handrail.core.run.refusals import Refusal
from handrail.core.run.runtime import Runtime

_log = logging.getLogger("handrail.jobs")


async def submit(
    call: BoundCall,
    raw: Any,
    runtime: Runtime,
    jobs: Jobs,
    *,
    delay: float | None = None,
    kind: JobKind = "submitted",
    secrets: frozenset[str] = frozenset(),
) -> Outcome:
    """Keep a call to be run by a worker; the outcome says that it is queued.

    What the guard would refuse, or ask a person for, goes the ordinary way at once. A call with a key gets
    its id from the key, so that submitting it again finds the same job.
    """
    call = _named(call)
    weighed = await _weigh(call, raw, runtime)
    if weighed is None or weighed[2].verdict == "deny":
        # A refusal leaves its end in the log: not under the id of a job that may come with the same key.
        return await run(replace(call, id=new_id("call")), raw, runtime)
    tool, fingerprint, decision = weighed
    if decision.verdict != "allow":
        return await run(call, raw, runtime)
    due_at = None if delay is None else runtime.clock.now() + max(0.0, delay)
    job = Job(call, tool, private_copy(raw), secrets, kind, None, fingerprint, due_at)
    try:
        earlier = await jobs.submit(job)
    except StorageError:
        _log.exception("call %s could not be queued", call.id)
        return new_call_state(replace(call, id=new_id("call")), raw, runtime).refuse(refusals.no_log())
    if earlier is not None:
        return _again(call, raw, earlier, fingerprint, runtime)
    when = "at once" if delay is None else f"in {delay:g} s"
    message = f"{tool} is queued (call {call.id}); a worker takes it {when} or when there is room."
    return _queued(call, tool, decision, message)


def _named(call: BoundCall) -> BoundCall:
    """A call with a key has the same id each time it is made."""
    if call.idempotency_key is None:
        return call
    name = digest_of(["call", *key_id(call.principal, call.idempotency_key)])
    return replace(call, id=f"call_{sha256(name.encode()).hexdigest()[:24]}")


async def _weigh(call: BoundCall, raw: Any, runtime: Runtime) -> tuple[str, str | None, Decision] | None:
    """The tool, the fingerprint and what the guard says; None when it does not come to that."""
    ready = await admit_call(call, raw, runtime)
    if isinstance(ready, Refusal):
        return None
    tool, admitted = ready
    if call.digest is not None and call.digest != tool.digest:
        return None
    decision = runtime.guard.decide(tool, admitted.values, call.principal, call.source)
    keyed = call.idempotency_key is not None
    return tool.id, digest_of([tool.id, admitted.args]) if keyed else None, decision


async def submit_all(
    graph: Iterable[Task], model: BoundCall, runtime: Runtime, jobs: Jobs
) -> dict[str, Outcome]:
    """Keep a graph of calls, all or none; what each became, by name. Raises `GraphError` for a bad graph.

    `model` says who makes the calls, and in which session. What needs a person is asked for when its turn
    comes.
    """
    tasks = check_graph(graph)
    calls = {name: replace(model, tool=task.tool, id=new_id("call")) for name, task in tasks.items()}
    queued: list[Job] = []
    outcomes: dict[str, Outcome] = {}
    for name, task in tasks.items():
        call = calls[name]
        weighed = await _weigh(call, task.args, runtime)
        if weighed is None or weighed[2].verdict in ("deny", "queue"):
            raise await _refused(task, call, weighed, runtime)
        tool, _, decision = weighed
        after = tuple(calls[other].id for other in task.after)
        queued.append(Job(call, tool, private_copy(task.args), task=name, after=after))
        waits = f"waits for {', '.join(map(repr, task.after))}" if after else "is queued"
        outcomes[name] = _queued(call, tool, decision, f"{name!r} ({tool}, call {call.id}) {waits}.")
    await jobs.submit_all(queued)
    return outcomes


async def _refused(
    task: Task, call: BoundCall, weighed: tuple[str, str | None, Decision] | None, runtime: Runtime
) -> GraphError:
    if weighed is not None and weighed[2].verdict == "queue":
        why = f"plan mode would hold back {weighed[0]}, and what comes after it would never run."
        return GraphError(f"Task {task.name!r} cannot be submitted: {why}", task=task.name)
    outcome = await run(call, task.args, runtime)
    why = outcome.result.error or outcome.result.summary or outcome.status
    return GraphError(f"Task {task.name!r} cannot be submitted: {why}", task=task.name, outcome=outcome)


def _again(
    call: BoundCall, raw: Any, earlier: JobEntry, fingerprint: str | None, runtime: Runtime
) -> Outcome:
    if earlier.fingerprint != fingerprint:
        state = new_call_state(replace(call, id=f"{call.id}:again"), raw, runtime)
        return state.refuse(refusals.key_reused(call.idempotency_key or earlier.id))
    stands = "is over" if earlier.state in FINAL else f"is {earlier.state}"
    return _queued(
        call, earlier.tool, None, f"{earlier.tool} was submitted before (call {call.id}); it {stands}."
    )


def _queued(call: BoundCall, tool: str, decision: Decision | None, message: str) -> Outcome:
    return Outcome(
        "queued", Result(True, None, message, code="SUBMITTED", output=message), call.id, tool, decision
    )
