"""LangChain: each tool as a `StructuredTool`, for `invoke` and `ainvoke`, through the whole guard."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Protocol, TypeVar, Unpack

from handrail import Call, Handrail, Outcome, Principal
from handrail.bridges import messages
from handrail.bridges.missing_packages import require_extra
from handrail.ext.tools import Dedup, wire_name

T = TypeVar("T")


class BlockingFacade(Protocol):
    """The blocking façade, `handrail.sync.Handrail`."""

    @property
    def inner(self) -> Handrail: ...
    def block_on(self, coroutine: Coroutine[Any, Any, T]) -> T: ...
    def begin(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]: ...


def wait_for(hr: Handrail | BlockingFacade, coroutine: Coroutine[Any, Any, T]) -> T:
    """Wait for it: on the façade's own loop, or on one made for it, where no running loop is in the way."""
    if not isinstance(hr, Handrail):
        return hr.block_on(coroutine)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1, thread_name_prefix="handrail-bridge") as thread:
        return thread.submit(copy_context().run, asyncio.run, coroutine).result()


async def await_on(hr: Handrail | BlockingFacade, coroutine: Coroutine[Any, Any, T]) -> T:
    """Await it: here, or on the façade's loop. Whoever cancels this cancels it there too."""
    if isinstance(hr, Handrail):
        return await coroutine
    return await asyncio.wrap_future(hr.begin(coroutine))


with require_extra("langchain", "the bridge to LangChain"):
    from langchain_core.callbacks import AsyncCallbackManagerForToolRun, CallbackManagerForToolRun
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import StructuredTool, ToolException
    from pydantic import PrivateAttr

Answer = tuple[Any, dict[str, Any]]
"""Content for the model and the artifact for the program."""


class CallFailed(ToolException):
    """A call did not complete; `outcome` says how it ended."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(messages.model_text(outcome))
        self.outcome = outcome


class GuardedTool(StructuredTool):
    """One tool as one principal may call it.

    `handle_tool_error` is True here unless you set it: a failure is an answer with status `error` that keeps
    its artifact. False raises `CallFailed`, a `ToolException`; a text or a function does what LangChain says.
    """

    _hr: Handrail | BlockingFacade = PrivateAttr()
    _principal: Principal | None = PrivateAttr(default=None)
    _session: str | None = PrivateAttr(default=None)

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments in one piece and as they were sent: a parameter may have any name, even `config`."""
        return (tool_input, tool_call_id), {}

    def _run(
        self,
        *args: Any,
        config: RunnableConfig,
        run_manager: CallbackManagerForToolRun | None = None,
        **kwargs: Any,
    ) -> Answer:
        sent, call_id = args
        return self._answer(wait_for(self._hr, self._call(sent, call_id, config)), call_id)

    async def _arun(
        self,
        *args: Any,
        config: RunnableConfig,
        run_manager: AsyncCallbackManagerForToolRun | None = None,
        **kwargs: Any,
    ) -> Answer:
        sent, call_id = args
        return self._answer(await await_on(self._hr, self._call(sent, call_id, config)), call_id)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return await super(StructuredTool, self).ainvoke(input, config, **kwargs)

    async def _call(self, sent: Any, call_id: str | None, config: RunnableConfig | None) -> Outcome:
        hr = self._hr if isinstance(self._hr, Handrail) else self._hr.inner
        return await hr.call(
            self.name,
            sent,
            principal=self._principal,
            session=self._session or session_of(config),
            id=messages.unique_call_id(call_id),
        )

    def _answer(self, outcome: Outcome, call_id: str | None) -> Answer:
        content, artifact = content_of(outcome), artifact_of(outcome)
        if not is_failure(outcome):
            return content, artifact
        if self.handle_tool_error is not True:
            raise CallFailed(outcome)
        return (content if call_id is None else _message(outcome, call_id)), artifact


async def tools(
    hr: Handrail | BlockingFacade, principal: Principal | None = None, *, session: str | None = None
) -> list[GuardedTool]:
    """What this principal may see, sorted by name.

    `session` is that of all calls; without one, the `thread_id` or `session_id` of each call's config is.
    """
    inner = hr if isinstance(hr, Handrail) else hr.inner
    exported = await await_on(hr, inner.export("anthropic", principal))
    return [
        _tool(hr, definition, principal, session)
        for definition in sorted(exported, key=lambda definition: str(definition["name"]))
    ]


def blocking_tools(
    hr: Handrail | BlockingFacade, principal: Principal | None = None, *, session: str | None = None
) -> list[GuardedTool]:
    """The same for code that does not await."""
    return wait_for(hr, tools(hr, principal, session=session))


def _tool(
    hr: Handrail | BlockingFacade,
    exported: Mapping[str, Any],
    principal: Principal | None,
    session: str | None,
) -> GuardedTool:
    tool = GuardedTool(
        name=exported["name"],
        description=exported["description"],
        args_schema=exported["input_schema"],
        response_format="content_and_artifact",
        handle_tool_error=True,
    )
    tool._hr, tool._principal, tool._session = hr, principal, session
    return tool


def calls(
    message: AIMessage, principal: Principal | None = None, **options: Unpack[messages.MessageOptions]
) -> list[Call]:
    """What a message asks for. Arguments that LangChain could not read go to the guard as they are."""
    sent = (*message.tool_calls, *message.invalid_tool_calls)
    return messages.calls_from(
        ((call["name"], call["args"], call["id"]) for call in sent), principal, **options
    )


def tool_messages(outcomes: Iterable[Outcome]) -> list[ToolMessage]:
    """The answers, in the order of the calls."""
    return [_message(outcome, messages.provider_id(outcome)) for outcome in outcomes]


async def run_tool_calls(
    hr: Handrail,
    message: AIMessage,
    principal: Principal | None = None,
    *,
    dedup: Dedup | None = None,
    **options: Unpack[messages.MessageOptions],
) -> list[ToolMessage]:
    """Run what a message asks for as one pass: calls that touch the same thing take turns."""
    return tool_messages(await messages.run_calls(hr, calls(message, principal, **options), dedup))


def session_of(config: RunnableConfig | None) -> str | None:
    """The session that a config names: the thread of a graph, or what stands in its metadata."""
    if config is None:
        return None
    tables: tuple[Mapping[str, Any], ...] = (config.get("configurable") or {}, config.get("metadata") or {})
    ids = (table.get(key) for table in tables for key in ("thread_id", "session_id"))
    return next((str(id) for id in ids if id), None)


def _message(outcome: Outcome, call_id: str) -> ToolMessage:
    return ToolMessage(
        content_of(outcome),
        artifact=artifact_of(outcome),
        tool_call_id=call_id,
        name=wire_name(outcome.tool),
        status="error" if is_failure(outcome) else "success",
    )


def is_failure(outcome: Outcome) -> bool:
    """Whether a call ended badly; one that waits for a person has not ended."""
    return not outcome.result.success and outcome.status != "pending"


def content_of(outcome: Outcome) -> str | list[str | dict[Any, Any]]:
    """What the model gets: text, with the pictures beside it if there are any."""
    text = messages.model_text(outcome)
    pictures = [
        {"type": "image", "base64": messages.base64_of(picture), "mime_type": picture.mime}
        for picture in messages.viewable_attachments(outcome)
    ]
    return [{"type": "text", "text": text}, *pictures] if pictures else text


def artifact_of(outcome: Outcome) -> dict[str, Any]:
    """What the program gets, as JSON data: the whole result, and how the call ended."""
    _, result = outcome.to_langchain()
    names = ("status", "tool", "call_id", "run_id", "approval_id")
    return {**result, "outcome": {name: getattr(outcome, name) for name in names}}
