"""One call through the whole guard, in memory; and what the log holds of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from handrail.core.clock import Clock
from handrail.core.define.call import Outcome
from handrail.core.define.levels import Source
from handrail.core.define.principal import Principal
from handrail.core.errors import UsageError
from handrail.core.find.registry import as_tool
from handrail.core.guard.approval_request import Approver
from handrail.core.guard.policy import Policy
from handrail.core.tell.events import Event
from handrail.engine.handrail import Handrail
from handrail.sync import Handrail as SyncHandrail


async def call(
    tool: Any,
    args: Mapping[str, Any] | str | None = None,
    *,
    principal: Principal | None = None,
    source: Source = "agent",
    session: str | None = None,
    policy: Policy | None = None,
    approver: Approver | None = None,
    secrets: Mapping[str, str] | None = None,
    clock: Clock | None = None,
    others: Iterable[Any] = (),
    **who: Any,
) -> Outcome:
    """Call one tool as an agent would, with a Handrail of its own, and say how it ended.

    Who calls is a `principal`, or its fields: `call(tool, {...}, tenant="acme", user="ana", agent="ops")`.
    The `others` are tools that the body calls in turn.
    """
    made = as_tool(tool)
    async with Handrail(
        [made, *others], policy=policy, approver=approver, secrets=secrets, clock=clock
    ) as hr:
        caller = _caller(principal, who)
        return await hr.call(made.id, args, principal=caller, source=source, session=session)


def call_sync(tool: Any, args: Mapping[str, Any] | str | None = None, **options: Any) -> Outcome:
    """`call` for a test that is a plain `def`."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(call(tool, args, **options))
    raise UsageError("This test is async: use `await call(...)`.")


def _caller(principal: Principal | None, who: Mapping[str, Any]) -> Principal | None:
    if not who:
        return principal
    if principal is not None:
        raise UsageError(f"Give either a principal or its fields ({', '.join(who)}), not both.")
    try:
        return Principal(**{"tenant": "local", **who})
    except TypeError:
        strange = sorted(who.keys() - Principal.__dataclass_fields__.keys())
        raise UsageError(
            f"{', '.join(strange)}: neither an option of `call` nor a field of Principal."
        ) from None


def events(hr: Handrail | SyncHandrail, tenant: str | Principal = "local", **filters: Any) -> list[Event]:
    """What the log holds of a tenant, oldest first: `events(hr, "acme", session="s1")`."""
    engine = hr.inner if isinstance(hr, SyncHandrail) else hr
    slug = tenant.tenant if isinstance(tenant, Principal) else tenant
    return list(engine.log.read(slug, **filters))
