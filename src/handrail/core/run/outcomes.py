"""Outcomes: how calls ended that nobody stayed for, for those who ask later. The log knows."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Iterable

from handrail.core.define.call import Outcome

FindOutcomes = Callable[[Collection[str]], Awaitable[Iterable[tuple[str, Outcome]]]]
"""How those of the calls ended, given by their ids, that ran before or elsewhere and are over: whose, how."""

_Key = tuple[str, str]
"""Tenant and call id."""
_log = logging.getLogger("handrail.run")
_PAUSE = 0.1
_SHARE = 30
"""A pause lasts so many times as long as the look before it: however many wait, looking costs little."""
_PATIENCE = 60.0
"""Seconds for which looking may fail before those who wait are told so."""


class Outcomes:
    """The newest outcomes by tenant and call id, and whoever waits for one that is not there yet.

    Callers may choose ids, so two tenants can have a call of the same one: neither gets the other's outcome.
    With `look`, calls are found that ended before this process began, or end in another one.
    """

    def __init__(self, keep: int = 1_000, look: FindOutcomes | None = None) -> None:
        self._keep = keep
        self._look = look
        self._outcomes: dict[_Key, Outcome] = {}
        self._listening: dict[_Key, list[Callable[[Outcome], None]]] = {}
        self._waiting: dict[str, list[tuple[str | None, asyncio.Future[Outcome]]]] = {}
        self._looking: asyncio.Task[None] | None = None

    def put(self, tenant: str, outcome: Outcome) -> None:
        key = (tenant, outcome.call_id)
        self._outcomes[key] = outcome
        if len(self._outcomes) > self._keep:
            del self._outcomes[next(iter(self._outcomes))]
        for callback in self._listening.pop(key, ()):
            callback(outcome)
        for whose, future in self._waiting.get(outcome.call_id, ()):
            if whose in (None, tenant) and not future.done():
                future.set_result(outcome)

    def tenants_of(self, call_id: str) -> set[str]:
        """Those of whose call of this id the end is known."""
        return {tenant for tenant, final_id in list(self._outcomes) if final_id == call_id}

    def when_final(self, tenant: str, call_id: str, callback: Callable[[Outcome], None]) -> None:
        """Tell how a call ended, now or as soon as it is known."""
        if (outcome := self._outcomes.get((tenant, call_id))) is not None:
            callback(outcome)
        else:
            self._listening.setdefault((tenant, call_id), []).append(callback)

    async def wait(self, call_id: str, timeout: float | None, tenant: str | None = None) -> Outcome:
        """The outcome, now or as soon as there is one; raises TimeoutError when that takes too long.

        Without a tenant, of whichever has a call of this id: for those who know that one alone can.
        """
        whose = {tenant} if tenant is not None else self.tenants_of(call_id)
        for owner in whose:
            if (outcome := self._outcomes.get((owner, call_id))) is not None:
                return outcome
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        this = (tenant, future)
        self._waiting.setdefault(call_id, []).append(this)
        if self._look is not None and (self._looking is None or self._looking.done()):
            self._looking = asyncio.get_running_loop().create_task(self._look_around(self._look))
        try:
            return await asyncio.wait_for(future, timeout)
        finally:
            waiting = self._waiting.get(call_id, [])
            if this in waiting:
                waiting.remove(this)
            if not waiting:
                self._waiting.pop(call_id, None)

    async def _look_around(self, look: FindOutcomes) -> None:
        """Look for all that are waited for at once, as long as there are any."""
        failing_since: float | None = None
        while self._waiting and self._look is not None:
            began = time.monotonic()
            try:
                for tenant, outcome in await look(tuple(self._waiting)):
                    if outcome.status != "pending":
                        self.put(tenant, outcome)
                failing_since = None
            except Exception as error:
                now = time.monotonic()
                failing_since = failing_since or now
                _log.warning("could not look for the end of calls: %s", error)
                if now - failing_since > _PATIENCE:
                    self._give_up(error)
                    return
            await asyncio.sleep(max(_PAUSE, _SHARE * (time.monotonic() - began)))

    async def close(self) -> None:
        """Look no more."""
        self._look = None
        if self._looking is not None and self._looking.get_loop() is asyncio.get_running_loop():
            await asyncio.wait([self._looking])

    def _give_up(self, error: Exception) -> None:
        for futures in self._waiting.values():
            for _, future in futures:
                if not future.done():
                    future.set_exception(error)
