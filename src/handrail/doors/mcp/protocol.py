"""McpServer: the low-level server of the SDK, with Handrail behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import progress_token_from_params
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    SERVER_INFO_META_KEY,
    NotificationParams,
    ServerNotification,
    SubscriptionFilter,
    SubscriptionsAcknowledgedNotification,
    SubscriptionsAcknowledgedNotificationParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    ToolListChangedNotification,
)
from mcp_types.methods import validate_client_request
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from handrail import __version__
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.ids import new_id
from handrail.doors.mcp.exchange import McpRequest
from handrail.doors.mcp.held_calls import HeldCalls, binding_of
from handrail.doors.mcp.notifications import ProgressReports, ToolListChanges
from handrail.doors.mcp.results import call_result, input_required, nobody_can_approve, pending_result
from handrail.doors.mcp.tool_list import ToolListing
from handrail.identity.errors import NotSignedIn
from handrail.platform import Platform

Ctx = ServerRequestContext[Any, Any]
_STATE_LIFETIME = 30 * 86_400.0
_INSTRUCTIONS = (
    "Each tool runs under a guard. One that waits for a person says so: call it again with the same "
    "arguments, or come back with the request state, to get its outcome. It never runs twice for that."
)


async def no_connection() -> Principal:
    """Whose a lasting connection is, where there is none."""
    raise NotSignedIn


class McpServer:
    """What the protocol asks for, answered by one platform."""

    def __init__(
        self,
        platform: Platform,
        *,
        hold: float,
        look_every: float,
        page: int,
        who: Callable[[], Awaitable[Principal]] = no_connection,
        has_reviewers: bool = True,
    ) -> None:
        self._platform = platform
        self._has_reviewers = has_reviewers
        self._hr = platform.hr
        self._who = who
        """Whose a lasting connection is; over HTTP each request says who it is from."""
        self._listing = ToolListing(self._hr, page)
        self._held_calls = HeldCalls(
            self._hr, platform.derived("mcp calls that wait"), hold, platform.closing
        )
        self._progress = ProgressReports(self._hr)
        self.changes = ToolListChanges(self._hr, look_every)
        self.closing = platform.closing
        self._initialized: asyncio.Queue[ServerSession] = asyncio.Queue()
        """The session of a lasting connection whose handshake is done."""
        self.sdk: Server[Any] = Server(
            "handrail",
            version=__version__,
            title="Handrail",
            instructions=_INSTRUCTIONS,
            on_list_tools=self._unreached,
            on_call_tool=self._unreached,
            on_subscriptions_listen=self._listen,
        )
        security = RequestStateSecurity(
            keys=[platform.derived("mcp request state")], ttl=_STATE_LIFETIME, bind_principal=self._bound
        )
        # In place of the SDK's own spans: Handrail tells telemetry of calls itself.
        self.sdk.middleware[:] = [RequestStateBoundary(security, default_audience="handrail"), self._directly]
        self._info = self.sdk.server_info_stamp

    async def principal(self, ctx: Ctx) -> Principal:
        if isinstance(ctx.request, McpRequest):
            return ctx.request.principal
        try:
            return await self._who()
        except NotSignedIn as error:
            raise MCPError(INVALID_REQUEST, str(error)) from None

    def _bound(self, ctx: Ctx) -> str | None:
        return binding_of(ctx.request.principal) if isinstance(ctx.request, McpRequest) else None

    async def header_schema(self, name: Any, principal: Principal) -> dict[str, Any] | None:
        """The input schema of a tool some of whose arguments stand in headers too, if it is in sight."""
        tool = self._hr.registry.get(name) if isinstance(name, str) else None
        if tool is None or not self._listing.is_annotated(tool):
            return None
        tools = await self._hr.tools(principal, source="mcp")
        return dict(tool.input_schema) if tool in tools else None

    async def _directly(self, ctx: Ctx, call_next: CallNext) -> HandlerResult:
        """Answer what is asked most without reading the answer through the SDK's models once more."""
        if ctx.method not in ("tools/list", "tools/call"):
            if ctx.method == "notifications/initialized" and not isinstance(ctx.request, McpRequest):
                self._initialized.put_nowait(ctx.session)
            return await call_next(ctx)
        validate_client_request(ctx.method, ctx.protocol_version, ctx.params)
        params, modern = ctx.params or {}, ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        if ctx.method == "tools/list":
            result = await self._listing.page(await self.principal(ctx), params.get("cursor"), modern)
        else:
            result = await self._call(ctx, params, modern)
        if modern:
            result.setdefault("resultType", "complete")
            result["_meta"] = {**result.get("_meta", {}), SERVER_INFO_META_KEY: self._info}
        return result

    async def _call(self, ctx: Ctx, params: Mapping[str, Any], modern: bool) -> dict[str, Any]:
        principal, state = await self.principal(ctx), params.get("requestState")
        name, args, call_id = params["name"], params.get("arguments"), new_id("call")
        if state is not None and modern:
            held = await self._held_calls.resumed(state, principal)
        elif progress_token_from_params(params) is None:
            held = await self._held_calls.call(principal, name, args, call_id)
        else:
            async with self._progress.reporting(call_id, ctx.session.report_progress):
                held = await self._held_calls.call(principal, name, args, call_id)
        if held.waits and held.approval is not None:
            if not self._has_reviewers:
                return nobody_can_approve(held.approval)
            await ctx.session.report_progress(0, None, f"Waiting for a person: approval {held.approval.id}")
            gone = ctx.request.gone if isinstance(ctx.request, McpRequest) else None
            held = await self._held_calls.hold(held, principal, gone)
        outcome, approval = held.outcome, held.approval
        if held.waits and approval is not None:
            return (
                input_required(approval, self._held_calls.state(approval))
                if modern
                else pending_result(approval)
            )
        return call_result(outcome, await self._tool(outcome.tool, principal), modern, approval)

    async def _tool(self, id: str, principal: Principal) -> Tool | None:
        """The tool that was called; one that only its tenant has is looked for among what it sees."""
        tool = self._hr.registry.get(id)
        if tool is None:
            tools = await self._hr.tools(principal, source="mcp")
            tool = next((visible for visible in tools if visible.id == id), None)
        return tool

    async def _unreached(self, ctx: Ctx, params: Any) -> Any:
        """Named, so that the SDK tells of tools; what is asked of them is answered before."""
        raise AssertionError("answered by `_directly`")

    async def _listen(self, ctx: Ctx, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        """Tell of changes for as long as the client listens and its key holds. Only tools change here."""
        if self.changes.full:
            raise MCPError(INTERNAL_ERROR, "Too many listen already. Try again later.")
        wants_tools = bool(params.notifications.tools_list_changed)
        meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: ctx.request_id}
        honoured = SubscriptionFilter(tools_list_changed=True if wants_tools else None)
        acknowledged = SubscriptionsAcknowledgedNotificationParams(notifications=honoured, _meta=meta)
        notice: ServerNotification | None = SubscriptionsAcknowledgedNotification(params=acknowledged)
        async with aclosing(self.changes.of(lambda: self._still(ctx))) as changes:
            async for _ in changes:  # the first one is none: from here on nothing is missed
                if notice is not None:
                    await ctx.session.send_notification(notice, related_request_id=ctx.request_id)
                changed = ToolListChangedNotification(params=NotificationParams(_meta=meta))
                notice = changed if wants_tools else None
        return SubscriptionsListenResult(_meta=meta)

    async def tell_changes(self) -> None:
        """Tell the client of a lasting connection, of before 2026, that the list is another one."""
        session = await self._initialized.get()
        async with aclosing(self.changes.of(self._who)) as changes:
            await anext(changes)
            async for _ in changes:
                await session.send_tool_list_changed()

    async def _still(self, ctx: Ctx) -> Principal:
        """Who listens, as their key has it now; raises when it holds no more."""
        request = ctx.request
        if not isinstance(request, McpRequest) or request.key is None:
            return await self.principal(ctx)
        return await self._platform.auth.principal_of(request.key, "mcp")
