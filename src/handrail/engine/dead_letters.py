"""DeadLetterAdmin: dead letters, listed, replayed and purged. A replay goes through the full guard."""

from __future__ import annotations

import builtins
import logging
from dataclasses import replace

from handrail.core.define.call import BoundCall, Outcome
from handrail.core.define.decision import STRICTNESS, Decision
from handrail.core.define.levels import Source
from handrail.core.define.principal import Principal
from handrail.core.define.result import Result
from handrail.core.define.tool import Tool
from handrail.core.guard.admit import Admitted, admit
from handrail.core.guard.idempotency import key_id
from handrail.core.ids import new_id
from handrail.core.run.approvals.inbox import Conflict
from handrail.core.run.call_state import Resume
from handrail.core.run.find_tool import find_tool
from handrail.core.run.pipeline import run
from handrail.core.run.refusals import Refusal
from handrail.core.run.runtime import Runtime
from handrail.core.tell.dead_letters import DeadLetter, DeadLetterStatus

_log = logging.getLogger("handrail.letters")

_NOT_OPEN: dict[DeadLetterStatus, str] = {
    "replayed": "was replayed already",
    "unknown": "cannot be replayed: its effect may have happened, or still happen",
}


class DeadLetterAdmin:
    """The dead letters of one Handrail. Whoever asks sees those of its tenant and of tools it may see."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def list(
        self,
        principal: Principal,
        tool: str | None = None,
        session: str | None = None,
        code: str | None = None,
        *,
        status: DeadLetterStatus | None = None,
        since: float | None = None,
        before: float | None = None,
    ) -> builtins.list[DeadLetter]:
        """The letters that fit every given filter, newest last."""
        definition = None if tool is None else self._runtime.registry.get(tool)
        letters = await self._runtime.dead_letters.list(
            principal.tenant,
            tool=tool if definition is None else definition.id,
            session=session,
            code=code,
            status=status,
            since=since,
            before=before,
        )
        names = {letter.tool for letter in letters}
        visible = {name for name in names if await self._tool(name, principal) is not None}
        return [letter for letter in letters if letter.tool in visible]

    async def page(
        self, principal: Principal, *, after: str | None = None, limit: int = 50
    ) -> builtins.list[DeadLetter]:
        """The newest letters first; `after` is the `cursor` of the last one of the page before."""
        visible: list[DeadLetter] = []
        is_visible: dict[str, bool] = {}
        while len(visible) < limit:
            next_ones = await self._runtime.dead_letters.page(principal.tenant, after=after, limit=limit)
            for letter in next_ones:
                if letter.tool not in is_visible:
                    is_visible[letter.tool] = await self._tool(letter.tool, principal) is not None
            visible += [letter for letter in next_ones if is_visible[letter.tool]]
            if len(next_ones) < limit:
                break
            after = next_ones[-1].cursor
        return visible[:limit]

    async def get(self, id: str, principal: Principal) -> DeadLetter | None:
        letter = await self._runtime.dead_letters.get(id, principal.tenant)
        if letter is None or await self._tool(letter.tool, principal) is None:
            return None
        return letter

    async def replay(self, id: str, *, by: Principal) -> Outcome:
        """Run a letter's call once more: as whoever made it, from where it came, under the same key.

        `by` must be free to make that call itself; nobody gains authority by a replay. What the call
        yields is for whoever made it: anybody else learns how it ended.
        """
        letter = await self._letter(id, by)
        await self._permit(letter, by)
        outcome = await self._replay(letter)
        if outcome is None:
            now = await self._letter(id, by)
            raise Conflict(f"The dead letter {id!r} {_NOT_OPEN.get(now.status, 'is being replayed')}.")
        return _outcome_for(outcome, letter, by)

    async def replay_session(self, session: str, *, by: Principal) -> builtins.list[Outcome]:
        """Replay what failed in a session, one after the other, in order.

        Of a call that failed again in a replay, only the newest letter counts.
        """
        letters = await self.list(by, session=session)
        newer = {letter.replay_of for letter in letters}
        waiting = [letter for letter in letters if letter.status == "open" and letter.id not in newer]
        for letter in waiting:
            await self._permit(letter, by)
        ended = [(letter, await self._replay(letter)) for letter in waiting]
        return [_outcome_for(outcome, letter, by) for letter, outcome in ended if outcome is not None]

    async def purge(
        self,
        id: str | None = None,
        *,
        by: Principal,
        tool: str | None = None,
        session: str | None = None,
        before: float | None = None,
    ) -> int:
        """Forget one letter, or all that fit every given filter; how many that were."""
        letters = await self.list(by, tool, session, before=before)
        if id is not None:
            chosen = await self._letter(id, by)
            letters = [letter for letter in letters if letter.id == chosen.id]
        return await self._runtime.dead_letters.remove([letter.id for letter in letters], by.tenant)

    async def ended(self, call: BoundCall, outcome: Outcome | None) -> None:
        """A call that had waited is over: if it was a replay, its letter learns how it ended."""
        if call.parent is None or call.depth:
            return
        try:
            await self._runtime.dead_letters.ended(call.id, call.tenant, outcome is not None and outcome.ok)
        except Exception:
            _log.exception("the dead letter behind call %s could not be settled", call.id)

    async def _tool(self, name: str, principal: Principal) -> Tool | None:
        """A tool that the principal may see."""
        tool = await find_tool(name, principal, self._runtime)
        if isinstance(tool, Refusal) or self._runtime.guard.see(tool, principal).verdict == "deny":
            return None
        return tool

    async def _letter(self, id: str, by: Principal) -> DeadLetter:
        letter = await self.get(id, by)
        if letter is None:
            raise Conflict(f"There is no dead letter {id!r}.", code="NOT_FOUND")
        return letter

    async def _permit(self, letter: DeadLetter, by: Principal) -> None:
        """Raise unless the guard would be no stricter with `by` than with whoever made the call."""
        if by == letter.principal:
            return
        tool = await self._tool(letter.tool, by)
        if tool is None:
            raise Conflict(f"There is no dead letter {letter.id!r}.", code="NOT_FOUND")
        mine = self._decide(tool, letter, by, _source_for(by, letter.call.source))
        theirs = self._decide(tool, letter, letter.principal, letter.call.source)
        if mine.verdict == "deny" or _strictness(mine) > _strictness(theirs):
            raise Conflict(
                f"The dead letter {letter.id!r} is not yours to replay, "
                f"since you could not make its call in this way: {mine.reason}",
                code="NOT_PERMITTED",
            )

    def _decide(self, tool: Tool, letter: DeadLetter, who: Principal, source: Source) -> Decision:
        guard = self._runtime.guard
        admitted = admit(tool, letter.raw, letter.call.tool, self._runtime.repairing)
        if isinstance(admitted, Admitted):
            return guard.decide(tool, admitted.values, who, source)
        return guard.certain(tool, who, source)

    async def _replay(self, letter: DeadLetter) -> Outcome | None:
        """How the replay ended, or waits; None when somebody else was faster."""
        runtime = self._runtime
        call = replace(
            letter.call,
            session=letter.session,
            id=new_id("call"),
            idempotency_key=letter.key,
            digest=None,
            parent=letter.call.id,
        )
        if await runtime.dead_letters.take(letter.id, letter.tenant, call.id) is None:
            return None
        outcome: Outcome | None = None
        try:
            runtime.keys.reopen(key_id(letter.principal, letter.key))
            outcome = await run(call, letter.raw, runtime, Resume(secrets=letter.secrets))
            return outcome
        finally:
            await self.ended(call, outcome)


def _outcome_for(outcome: Outcome, letter: DeadLetter, by: Principal) -> Outcome:
    """The outcome for `by`: of somebody else's call, how it ended and nothing of what it yields."""
    if by.is_same_caller(letter.principal):
        return outcome
    result = outcome.result
    summary = f"{outcome.tool}: {outcome.status}. What it yields is for whoever made the call."
    return replace(
        outcome, result=Result(result.success, None, summary, error=result.error, code=result.code)
    )


def _source_for(by: Principal, source: Source) -> Source:
    """The door of the call, for persons; an agent or a service does not become one by a replay."""
    if by.agent is not None:
        return "agent"
    return "api" if by.key == "service" else source


def _strictness(decision: Decision) -> tuple[int, bool]:
    return STRICTNESS[decision.verdict], decision.by == "reviewer"
