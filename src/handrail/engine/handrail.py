"""Handrail: tools, a policy and ports put together; the object that everybody calls."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

from handrail.core.define.principal import Principal
from handrail.core.define.result import Result
from handrail.core.define.retry import Retry, retry_of
from handrail.core.define.tool import InitContext, Tool
from handrail.core.define.validation import positive_int
from handrail.engine.background import BackgroundCalls

if TYPE_CHECKING:
    from concurrent.futures import Executor, ThreadPoolExecutor

    from handrail.core.clock import Clock
    from handrail.core.find.embeddings import Embedder
    from handrail.core.find.registry import Registry
    from handrail.core.find.toolsets import Toolset
    from handrail.core.guard.approval_request import Approver
    from handrail.core.guard.approval_store import ApprovalStore
    from handrail.core.guard.claims import Claims
    from handrail.core.guard.decide import SafetyCheck
    from handrail.core.guard.idempotency import IdempotencyKeys
    from handrail.core.guard.plans import Plans
    from handrail.core.guard.policy import Policy
    from handrail.core.run.hooks import Hook
    from handrail.core.run.runtime import Secrets
    from handrail.core.tell.dead_letters import DeadLetters
    from handrail.core.tell.log import EventLog

_THREADS = 64


class Handrail(BackgroundCalls):
    """One set of tools behind one guard."""

    def __init__(
        self,
        tools: Iterable[Any] = (),
        *,
        database: str | None = None,
        worker: bool = True,
        policy: Policy | None = None,
        agents: Mapping[str, Policy] | None = None,
        approver: Approver | None = None,
        registry: Registry | None = None,
        log: EventLog | None = None,
        approvals: ApprovalStore | None = None,
        claims: Claims | None = None,
        keys: IdempotencyKeys | None = None,
        dead_letters: DeadLetters | None = None,
        plans: Plans | None = None,
        hooks: Iterable[Hook] = (),
        safety: Iterable[SafetyCheck] = (),
        secrets: Mapping[str, str] | Secrets | None = None,
        create_context: Callable[[str, str], Mapping[str, Any]] | None = None,
        on_result: Callable[[Result], None] | None = None,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        repair: bool = True,
        timeout: float | None = None,
        retry: Retry | int | None = None,
        cancel_grace: float = 5.0,
        approval_lifetime: float | None = None,
        working_dir: str | None = None,
        max_parallel: int = 128,
    ) -> None:
        from handrail.core.clock import Clock
        from handrail.core.find.registry import Registry
        from handrail.core.find.toolsets import AttachableToolset, toolset_extras
        from handrail.core.guard.claims import MemoryClaims
        from handrail.core.guard.guard import make_guard
        from handrail.core.guard.policy import Policy
        from handrail.core.run.approvals.inbox import Approvals
        from handrail.core.run.catalogue.search import Search
        from handrail.core.run.catalogue.visible_tools import Catalogue
        from handrail.core.run.hooks import Hooks
        from handrail.core.run.pipeline import run
        from handrail.core.run.runtime import BodyExecution, Runtime
        from handrail.core.tell.teller import Teller
        from handrail.engine.admin import JobAdmin, SecretAdmin, secret_source
        from handrail.engine.backend import memory_backend, open_backend
        from handrail.engine.context_host import ContextHost
        from handrail.engine.dead_letters import DeadLetterAdmin
        from handrail.engine.resumer import Resumer

        clock = clock or Clock()
        retries = None if retry is None else retry_of(retry)
        self.registry = registry if registry is not None else Registry()
        toolsets = self._register(tools)
        hooks = (*hooks, *(hook for toolset in toolsets for hook in toolset_extras(toolset, "hooks")))
        safety = (*safety, *(check for toolset in toolsets for check in toolset_extras(toolset, "safety")))
        self._threads: ThreadPoolExecutor | None = None
        self._max_parallel = positive_int("max_parallel", max_parallel)
        # After all that can be wrong with what is given: whoever corrects it finds the database free.
        backend = memory_backend(clock) if database is None else open_backend(database, clock, worker)
        own: dict[str, Any] = {"log": log, "approvals": approvals, "keys": keys, "plans": plans}
        own["dead_letters"] = dead_letters
        backend = replace(backend, **{name: port for name, port in own.items() if port is not None})
        self._backend, self._settled, self._usage_meter = backend, backend.settled, backend.usage_meter
        self._pipeline = run
        host = ContextHost()
        self._runtime = Runtime(
            registry=self.registry,
            guard=make_guard(policy or Policy(), safety, agents),
            teller=Teller(backend.log),
            approvals=backend.approvals,
            claims=claims if claims is not None else MemoryClaims(),
            keys=backend.keys,
            plans=backend.plans,
            host=host,
            execution=BodyExecution(self._thread_pool, cancel_grace),
            clock=clock,
            init=InitContext(working_dir or os.getcwd()),
            toolsets=toolsets,
            approver=approver,
            watchers=Hooks(hooks, safety) if hooks or safety else None,
            secrets=secret_source(secrets) or backend.secrets,
            create_context=create_context,
            repairing=repair,
            timeout=timeout,
            retry=retries,
            approval_lifetime=approval_lifetime,
            nobody=Principal.local() if database is None else None,
            dead_letters=backend.dead_letters,
            standing=backend.standing,
            groups_reads=backend.settled is not None and log is None,
            resolver=None if backend.resolver is None else backend.resolver(self.registry),
        )
        for toolset in toolsets:
            if isinstance(toolset, AttachableToolset):
                toolset.attach(self._runtime.secrets, backend.pins)
        if backend.usage_meter is not None:
            self._runtime.teller.listen(backend.usage_meter.hear)
        if on_result is not None:
            self._runtime.on_result.add(on_result)
        self._catalogue = Catalogue(self._runtime)
        self._search = host.tool_search = Search(self._runtime, self._catalogue, embedder)
        self._runtime.similar = self._search.similar
        self.dead_letters = DeadLetterAdmin(self._runtime)
        self.secrets = SecretAdmin(self._runtime.secrets)
        self._resumer = Resumer(self._runtime, self.dead_letters, backend.find_outcomes)
        self._jobs = backend.jobs(self._resumer.job_context)
        self.approvals = Approvals(self._runtime, self._resumer.resume)
        self.jobs = JobAdmin(self._jobs)

    def _register(self, tools: Iterable[Any]) -> tuple[Toolset, ...]:
        """Register tools, and those of modules; toolsets are given back."""
        from handrail.core.find.registry import discover
        from handrail.core.find.toolsets import Toolset

        toolsets: list[Toolset] = []
        for source in tools:
            if isinstance(source, ModuleType):
                for tool in discover(source):
                    self.registry.register(tool)
            elif isinstance(source, Toolset) and not isinstance(source, (Tool, type)):
                toolsets.append(source)
            else:
                self.registry.register(source)
        return tuple(toolsets)

    @property
    def services(self) -> object:
        """What an open database offers to the doors of a platform; None without one."""
        return self._backend.services

    @property
    def policy(self) -> Policy:
        return self._runtime.guard.policy

    def _thread_pool(self) -> Executor:
        if self._threads is None:
            from concurrent.futures import ThreadPoolExecutor

            self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="handrail")
        return self._threads

    async def open(self) -> Self:
        """Take up what an earlier process left in the database, and run what is queued there."""
        await self._jobs.start()
        return self

    async def close(self) -> None:
        """Finish what was resumed, end the worker threads, let go of the database."""
        from handrail.core.find.toolsets import AttachableToolset

        async with AsyncExitStack() as ending:  # from the last to the first, and each though another failed
            ending.callback(self._end_threads)
            ending.push_async_callback(self._backend.close)
            for toolset in self._runtime.toolsets:
                if isinstance(toolset, AttachableToolset):
                    ending.push_async_callback(toolset.close)
            ending.push_async_callback(self._jobs.close)
            await self._resumer.close()

    def _end_threads(self) -> None:
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._threads = None

    async def __aenter__(self) -> Self:
        try:
            return await self.open()
        except BaseException:
            await self.close()
            raise

    async def __aexit__(self, *_: object) -> None:
        await self.close()
