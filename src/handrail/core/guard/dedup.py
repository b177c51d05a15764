"""Dedup: what an agent called before in its run, so that it is told the answer instead of doing it again."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from handrail.core.define.call import Call, Outcome
from handrail.core.define.principal import Principal
from handrail.core.define.schema import canonical_json, digest_of
from handrail.core.errors import UsageError

Scope = Literal["run", "until_change", "off"]
Failures = Literal["marked", "repeatable"]

Signature = tuple[str, str, Principal]
"""The canonical id, the fingerprint of the arguments, and who called: nobody is handed another's answer."""

_WORTH_REPEATING = frozenset(
    "RESOURCE_BUSY TOOL_UNAVAILABLE LOG_UNAVAILABLE CALL_ID_IN_USE APPROVAL_EXPIRED STALE_TOOL".split()
)
"""Refusals that say: try again."""

WhenFinal = Callable[[str, str, Callable[[Outcome], None]], None]
"""Tells how the call of a tenant, by its id, ended, once it is final."""


class DedupEntry:
    """A call that was made, or is being made."""

    __slots__ = ("changes", "ended", "outcome")

    def __init__(self, changes: bool) -> None:
        self.changes = changes
        """Whether it may change something."""
        self.outcome: Outcome | None = None
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class Dedup:
    """The memory of one agent's run. Make one with `hr.dedup()` and give it to each `call_many`.

    `run`: the same call runs once. `until_change`: a call that may change something lets everything that only
    reads be called again. Failures count as made unless they are `repeatable`.
    """

    def __init__(
        self,
        scope: Scope = "run",
        failures: Failures = "marked",
        when_final: WhenFinal = lambda tenant, call_id, told: None,
    ) -> None:
        if scope not in get_args(Scope) or failures not in get_args(Failures):
            raise UsageError(
                f"dedup takes scope {_or(get_args(Scope))} and failures {_or(get_args(Failures))}, "
                f"not {scope!r} and {failures!r}."
            )
        self.scope = scope
        self.failures = failures
        self.skipped: tuple[str, ...] = ()
        """The tools whose calls were skipped in the last pass."""
        self.all_duplicates = False
        """Whether every call of the last pass was skipped."""
        self._when_final = when_final
        self._entries: dict[Signature, DedupEntry] = {}
        self._refused: set[str] = set()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def exit(self) -> dict[str, str] | None:
        """What ends an agent's loop after the last pass: everything it asked for had been done before."""
        return {"type": "exit", "reason": "all_tools_duplicate"} if self.all_duplicates else None

    def recall(self, signature: Signature, changes: bool) -> tuple[DedupEntry, bool]:
        """The call's entry, and whether this call made it. Asked in the order of the calls."""
        entry = self._entries.get(signature)
        if entry is not None:
            return entry, False
        if changes:
            self._forget_reads()
        entry = self._entries[signature] = DedupEntry(changes)
        return entry, True

    def _forget_reads(self) -> None:
        if self.scope == "until_change":
            self._entries = {key: entry for key, entry in self._entries.items() if entry.changes}

    def settle(
        self, signature: Signature, entry: DedupEntry, outcome: Outcome | None, waited: bool = False
    ) -> None:
        """How a call ended that was not a repetition; one that is worth repeating is forgotten."""
        repeatable = self._is_repeatable(outcome)
        entry.outcome = None if repeatable else outcome
        if not entry.ended.done():
            entry.ended.set_result(None)
        if repeatable and self._entries.get(signature) is entry:
            del self._entries[signature]
        if outcome is None:
            return
        if outcome.status in ("pending", "queued"):
            self._hear_of_the_end(signature, entry, outcome.call_id)
        elif entry.changes and (outcome.approval_id is not None or waited):
            self._forget_reads()  # what was read while it waited may be older than the change

    def _hear_of_the_end(self, signature: Signature, entry: DedupEntry, call_id: str) -> None:
        """A call that waits for a person or in a plan ends some other time, perhaps after this memory."""
        memory = weakref.ref(self)

        def settle(outcome: Outcome) -> None:
            if (dedup := memory()) is not None:
                dedup.settle(signature, entry, outcome, waited=True)

        self._when_final(signature[2].tenant, call_id, settle)

    def _is_repeatable(self, outcome: Outcome | None) -> bool:
        if outcome is None or outcome.status == "cancelled" or outcome.code in _WORTH_REPEATING:
            return True
        return outcome.status == "failed" and self.failures == "repeatable"

    def end_pass(self, calls: Iterable[tuple[Any, Outcome, bool]]) -> None:
        """Note what was skipped: of each call its arguments, its outcome, and whether it repeats one."""
        made_calls = tuple(calls)
        skipped = [
            outcome.tool
            for raw, outcome, repeats in made_calls
            if repeats or (outcome.status == "refused" and self._was_refused(raw, outcome))
        ]
        self.skipped = tuple(skipped)
        self.all_duplicates = bool(made_calls) and len(skipped) == len(made_calls)

    def _was_refused(self, raw: Any, outcome: Outcome) -> bool:
        if outcome.code in _WORTH_REPEATING:
            return False
        try:
            words = digest_of([outcome.tool, raw, outcome.code, outcome.result.error])
        except Exception:
            return False  # nobody can tell whether what cannot be written down is the same
        repeated = words in self._refused
        self._refused.add(words)
        return repeated


def signature_of(tool_id: str, args: Any, principal: Principal) -> Signature:
    return tool_id, digest_of(args), principal


def _or(words: Iterable[str]) -> str:
    return " or ".join(map(repr, words))


@dataclass(slots=True)
class WorkerState:
    """The signatures of the calls made so far, and what the last pass skipped."""

    executed_tool_signatures: set[str] = field(default_factory=set)
    skipped_duplicates: list[str] = field(default_factory=list)


def tool_signature(tool: str, params: Mapping[str, Any] | None = None) -> str:
    """`tool::{...}`: the same for the same arguments, in whatever order they are written."""
    return f"{tool}::{canonical_json(dict(params or {})).decode()}"


def is_tool_already_executed(state: WorkerState, tool: str, params: Mapping[str, Any] | None = None) -> bool:
    return tool_signature(tool, params) in state.executed_tool_signatures


def mark_tool_executed(state: WorkerState, tool: str, params: Mapping[str, Any] | None = None) -> None:
    state.executed_tool_signatures.add(tool_signature(tool, params))


def new_tool_calls(state: WorkerState, calls: Iterable[Call]) -> tuple[list[Call], dict[str, str] | None]:
    """The calls of a pass that are new, now marked; and the exit when there were calls and none is new."""
    fresh: list[Call] = []
    state.skipped_duplicates = []
    for call in calls:
        params = call.args if isinstance(call.args, Mapping) else {"": call.args} if call.args else {}
        if is_tool_already_executed(state, call.tool, params):
            state.skipped_duplicates.append(call.tool)
        else:
            mark_tool_executed(state, call.tool, params)
            fresh.append(call)
    nothing_new = bool(state.skipped_duplicates) and not fresh
    return fresh, {"type": "exit", "reason": "all_tools_duplicate"} if nothing_new else None
