"""Context: what a running body knows and may do. Only the engine builds one."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import aclosing, closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from handrail.core.define.levels import Capability, Source
from handrail.core.define.principal import Principal
from handrail.core.define.signal import Signal
from handrail.core.errors import NoTenant

if TYPE_CHECKING:
    from handrail.core.define.call import BoundCall, Outcome
    from handrail.core.define.lookup import ToolDetails, ToolMatch

T = TypeVar("T")


class Host(Protocol):
    """What the engine does for a running body."""

    def progress(self, ctx: Context, update: Mapping[str, Any]) -> None: ...
    def append_output(self, ctx: Context, text: str) -> None: ...
    def secret(self, ctx: Context, name: str) -> str: ...
    async def nested(self, ctx: Context, tool: str, args: Mapping[str, Any] | None) -> Outcome: ...
    def nested_and_wait(self, ctx: Context, tool: str, args: Mapping[str, Any] | None) -> Outcome: ...
    async def in_thread(self, ctx: Context, work: Callable[[], T]) -> T: ...
    async def page(self, ctx: Context, handle: str, offset: int, limit: int | None) -> str: ...
    async def search(self, ctx: Context, words: str, limit: int) -> list[ToolMatch]: ...
    async def describe(self, ctx: Context, name: str) -> ToolDetails: ...


class ContextState(Protocol):
    """What the engine knows of the call a context belongs to."""

    call: BoundCall
    next_run_id: str
    extra: Mapping[str, Any]

    @property
    def granted(self) -> frozenset[Capability]: ...
    @property
    def host(self) -> Host: ...
    @property
    def signal(self) -> Signal: ...


class Context:
    """Identity, cancellation, progress, secrets and nested calls for one running body."""

    __slots__ = ("_call", "_state")

    def __init__(self, state: ContextState) -> None:
        self._state = state
        self._call = state.call

    @property
    def principal(self) -> Principal:
        return self._call.principal

    @property
    def call_id(self) -> str:
        return self._call.id

    @property
    def run_id(self) -> str:
        return self._state.next_run_id

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What is granted here, so that a tool can see which of its optional capabilities it has."""
        return self._state.granted

    @property
    def extra(self) -> Mapping[str, Any]:
        """What the engine's `create_context` added."""
        return self._state.extra

    @property
    def signal(self) -> Signal:
        """Set when the call is cancelled or runs out of time."""
        return self._state.signal

    @property
    def tenant_id(self) -> str:
        return self.principal.tenant

    @property
    def user_id(self) -> str | None:
        return self.principal.user

    @property
    def agent_id(self) -> str | None:
        return self.principal.agent

    @property
    def workspace_id(self) -> str | None:
        return self.principal.workspace

    @property
    def permissions(self) -> frozenset[str]:
        return self.principal.permissions

    @property
    def session_id(self) -> str:
        return self._call.log_session

    @property
    def message_id(self) -> str | None:
        return self._call.message

    @property
    def turn(self) -> int | None:
        return self._call.turn

    @property
    def source(self) -> Source:
        return self._call.source

    @property
    def tool(self) -> str:
        """The name under which it was called."""
        return self._call.tool

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt at this call: hand it to outside systems that take one."""
        return self._call.idempotency_key or self.call_id

    tenant = tenant_slug = organization_id = tenant_id
    user = user_id
    agent = agent_id
    workspace = workspace_id
    chat_id = session_id
    turn_number = turn
    tool_call_id = call_id
    abort = signal

    def metadata(self, update: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        """Send a progress update: `ctx.metadata(title="Reading 3 of 9")`. It is shown, not stored."""
        self._state.host.progress(self, {**(update or {}), **more})

    def append_output(self, text: str) -> None:
        """Append a piece to the running output. It is stored and streamed."""
        self._state.host.append_output(self, text)

    def secret(self, name: str) -> str:
        """A secret of this tenant. Its value is masked wherever this call is recorded or answered."""
        return self._state.host.secret(self, name)

    async def call(self, tool: str, args: Mapping[str, Any] | None = None) -> Outcome:
        """Call another tool through the same guard, never with more authority than this call has."""
        return await self._state.host.nested(self, tool, args)

    def call_and_wait(self, tool: str, args: Mapping[str, Any] | None = None) -> Outcome:
        """The same for a sync body, which runs in a thread: wait here for the outcome.

        Raises `Aborted` when this call is cancelled or runs out of time meanwhile.
        """
        return self._state.host.nested_and_wait(self, tool, args)

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Run what waits or computes for long in a thread, as a sync body is, while the loop goes on.

        Should this call be cancelled or run out of time, the thread is told by `signal`, and given the same
        time to heed it.
        """
        return await self._state.host.in_thread(self, work)

    async def read_result(self, handle: str, offset: int = 0, limit: int | None = None) -> str:
        """A page of an earlier result that was too large to show, if this principal may read it."""
        return await self._state.host.page(self, handle, offset, limit)

    async def search(self, words: str, limit: int = 10) -> list[ToolMatch]:
        """The tools this principal may see that fit the words best."""
        return await self._state.host.search(self, words, limit)

    async def describe(self, name: str) -> ToolDetails:
        """A tool this principal may see, and what a call would meet. Raises ToolError when there is none."""
        return await self._state.host.describe(self, name)


@dataclass(frozen=True, slots=True)
class TenantScope:
    """A tenant identity for work outside any call: jobs, workers, automations."""

    tenant_id: str


_current: ContextVar[Context | ContextState | TenantScope | None] = ContextVar(
    "handrail_context", default=None
)
"""A running call enters with its state alone: most bodies never ask for their context."""
active_tenant: ContextVar[Callable[[], str | None] | None] = ContextVar(
    "handrail_active_tenant", default=None
)
"""How the request at hand names its tenant; a door sets it."""


def current() -> Context | TenantScope | None:
    """The context of the running call or tenant scope, if there is one."""
    context = _current.get()
    return context if context is None or isinstance(context, (Context, TenantScope)) else Context(context)


enter = _current.set
leave = _current.reset


@contextmanager
def tool_context(tenant_id: str) -> Iterator[None]:
    """Run a block as a tenant: `with tool_context("acme"): ...`"""
    if not isinstance(tenant_id, str) or not tenant_id:
        raise NoTenant("A tool context needs a tenant, such as tool_context('acme').")
    token = _current.set(TenantScope(tenant_id))
    try:
        yield
    finally:
        _current.reset(token)


def with_tool_context(tenant_id: str, fn: Callable[[], T]) -> T:
    """Run a callback as a tenant. The identity follows awaits, tasks and the steps of generators.

    Await what an async one returns; iterate over what a generator returns.
    """
    with tool_context(tenant_id):
        result = fn()
    followed: Any = result
    if isawaitable(followed):
        followed = _awaited(tenant_id, followed)
    elif isinstance(followed, AsyncGenerator):
        followed = _async_steps(tenant_id, followed)
    elif isinstance(followed, Generator):
        followed = _steps(tenant_id, followed)
    same_kind: T = followed
    return same_kind


async def _awaited(tenant_id: str, result: Awaitable[Any]) -> Any:
    with tool_context(tenant_id):
        return await result


async def _async_steps(tenant_id: str, steps: AsyncGenerator[Any, None]) -> AsyncIterator[Any]:
    async with aclosing(steps):
        while True:
            with tool_context(tenant_id):
                try:
                    step = await anext(steps)
                except StopAsyncIteration:
                    return
            yield step


def _steps(tenant_id: str, steps: Generator[Any, None, None]) -> Iterator[Any]:
    with closing(steps):
        while True:
            with tool_context(tenant_id):
                try:
                    step = next(steps)
                except StopIteration:
                    return
            yield step


def get_tool_context_tenant_id() -> str | None:
    """The tenant of the running call or scope, or None outside both."""
    context = current()
    return None if context is None else context.tenant_id


def get_tenant_id_for_tool() -> str:
    """The tenant to work for: the call's or scope's, else the request's. Raises when there is neither."""
    tenant = get_tool_context_tenant_id()
    if tenant is None and (source := active_tenant.get()) is not None:
        tenant = source()
    if not tenant:
        raise NoTenant
    return tenant
