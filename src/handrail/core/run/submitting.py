"""submit: a call whose caller does not wait for it, or a graph of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from typing import Any

from handrail.core.define.call import Call, Outcome
from handrail.core.define.decision import Decision
from handrail.core.define.jsonvalue import own_copy
from handrail.core.define.result import Result
from handrail.core.define.schema import digest_of
from handrail.core.guard.admit import Admitted, admit
from handrail.core.guard.keys import key_id
from handrail.core.ids import new_id
from handrail.core.run import refusal
from handrail.core.run.graph import GraphError, Task, checked
from handrail.core.run.house import House
from handrail.core.run.jobs import FINAL, Job, JobEntry, JobKind, Jobs
from handrail.core.run.pipeline import run
from handrail.core.run.refusal import Refusal
from handrail.core.run.seek import seek
from handrail.core.run.tale import begin


async def submit(
    call: Call,
    raw: Any,
    house: House,
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
    weighed = await _weigh(call, raw, house)
    if weighed is None or weighed[2].verdict == "deny":
        # A refusal leaves its end in the log: not under the id of a job that may come with the same key.
        return await run(replace(call, id=new_id("call")), raw, house)
    tool, fingerprint, decision = weighed
    if decision.verdict != "allow":
        return await run(call, raw, house)
    due_at = None if delay is None else house.clock.now() + max(0.0, delay)
    job = Job(call, tool, own_copy(raw), secrets, kind, None, fingerprint, due_at)
    earlier = await jobs.submit(job)
    if earlier is not None:
        return _again(call, raw, earlier, fingerprint, house)
    when = "at once" if delay is None else f"in {delay:g} s"
    said = f"{tool} is queued (call {call.id}); a worker takes it {when} or when there is room."
    return _queued(call, tool, decision, said)


def _named(call: Call) -> Call:
    """A call with a key has the same id each time it is made."""
    if call.idempotency_key is None or call.principal is None:
        return call
    name = digest_of(["call", *key_id(call.principal, call.idempotency_key)])
    return replace(call, id=f"call_{sha256(name.encode()).hexdigest()[:24]}")


async def _weigh(call: Call, raw: Any, house: House) -> tuple[str, str | None, Decision] | None:
    """The tool, the fingerprint and what the guard says; None when it does not come to that."""
    assert call.principal is not None
    tool = await seek(call, house)
    if isinstance(tool, Refusal) or house.guard.see(tool, call.principal).verdict == "deny":
        return None
    admitted = admit(tool, raw, call.tool, house.repairing)
    if not isinstance(admitted, Admitted) or (call.digest is not None and call.digest != tool.digest):
        return None
    decision = house.guard.decide(tool, admitted.values, call.principal, call.source)
    keyed = call.idempotency_key is not None
    return tool.id, digest_of([tool.id, admitted.args]) if keyed else None, decision


async def submit_all(given: Iterable[Task], model: Call, house: House, jobs: Jobs) -> dict[str, Outcome]:
    """Keep a graph of calls, all or none; what each became, by name. Raises `GraphError` for a bad graph.

    `model` says who makes the calls, and in which session. What needs a person is asked for when its turn
    comes.
    """
    tasks = checked(given)
    calls = {name: replace(model, tool=task.tool, id=new_id("call")) for name, task in tasks.items()}
    kept: list[Job] = []
    outcomes: dict[str, Outcome] = {}
    for name, task in tasks.items():
        call = calls[name]
        weighed = await _weigh(call, task.args, house)
        if weighed is None or weighed[2].verdict in ("deny", "queue"):
            raise await _refused(task, call, weighed, house)
        tool, _, decision = weighed
        after = tuple(calls[other].id or "" for other in task.after)
        kept.append(Job(call, tool, own_copy(task.args), task=name, after=after))
        waits = f"waits for {', '.join(map(repr, task.after))}" if after else "is queued"
        outcomes[name] = _queued(call, tool, decision, f"{name!r} ({tool}, call {call.id}) {waits}.")
    await jobs.submit_all(kept)
    return outcomes


async def _refused(
    task: Task, call: Call, weighed: tuple[str, str | None, Decision] | None, house: House
) -> GraphError:
    if weighed is not None and weighed[2].verdict == "queue":
        why = f"plan mode would hold back {weighed[0]}, and what comes after it would never run."
        return GraphError(f"Task {task.name!r} cannot be submitted: {why}", task=task.name)
    outcome = await run(call, task.args, house)
    why = outcome.result.error or outcome.result.summary or outcome.status
    return GraphError(f"Task {task.name!r} cannot be submitted: {why}", task=task.name, outcome=outcome)


def _again(call: Call, raw: Any, earlier: JobEntry, fingerprint: str | None, house: House) -> Outcome:
    if earlier.fingerprint != fingerprint:
        tale = begin(replace(call, id=None), raw, house)
        tale.call = replace(call, id=f"{call.id}:again")
        return tale.refuse(refusal.key_reused(call.idempotency_key or earlier.id))
    state = "is over" if earlier.state in FINAL else f"is {earlier.state}"
    return _queued(
        call, earlier.tool, None, f"{earlier.tool} was submitted before (call {call.id}); it {state}."
    )


def _queued(call: Call, tool: str, decision: Decision | None, said: str) -> Outcome:
    assert call.id is not None
    return Outcome("queued", Result(True, None, said, code="SUBMITTED", output=said), call.id, tool, decision)
