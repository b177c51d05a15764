"""A mail server that fails, and whoever writes mails."""

from __future__ import annotations

from typing import Any

from handrail import Context, Policy, Principal, Tool, tool

WITHOUT_ASKING = Policy(approval_mode="policy")
ANA = Principal(tenant="acme", user="ana", permissions={"approvals.decide"})
BO = Principal(tenant="acme", user="bo", permissions={"approvals.decide"})
OPS = Principal(tenant="acme", user="ana", agent="ops")
OTHER = Principal(tenant="other", user="cy")


class MailServer:
    """A mail server that is down until somebody repairs it, and a tool that uses it."""

    def __init__(self) -> None:
        self.down = True
        self.sent: list[str] = []
        self.keys: list[str] = []
        self.contexts: list[tuple[Any, ...]] = []

    def tool(self, **options: Any) -> Tool:
        @tool("mail.send", **{"level": "draft", "aliases": ["post"], **options})
        async def send(to: str, *, ctx: Context) -> str:
            """Send a mail."""
            self.keys.append(ctx.idempotency_key)
            self.contexts.append((ctx.principal, ctx.session_id, ctx.source, ctx.call_id))
            if self.down:
                raise ConnectionError("the server is down")
            self.sent.append(to)
            return f"sent to {to}"

        return send
