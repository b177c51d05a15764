"""An agent works with the records of one tenant, and meets the guard."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

from handrail import Handrail, Outcome, Policy, Principal, Rule
from handrail.toolsets.demo import analysis_tools, read_tools, write_tools

POLICY = Policy(
    rules=[
        Rule(
            name="people delete",
            tool="data.bulkDelete",
            when={"@source": ["agent", "mcp", "job"]},
            verdict="deny",
            reason="records are deleted by people",
            match=[{"ids": ["rec-001"], "@source": "agent"}],
            not_match=[{"ids": ["rec-001"], "@source": "web"}],
        )
    ]
)
AGENT = Principal(tenant="acme", user="ana", agent="ops")
ANA = Principal(tenant="acme", user="ana", permissions={"approvals.decide"})
STRANGER = Principal(tenant="globex", user="gus", agent="ops")


async def main() -> None:
    async with Handrail([read_tools, analysis_tools, write_tools], policy=POLICY) as hr:

        async def call(name: str, args: dict[str, Any], principal: Principal = AGENT) -> Outcome:
            print(f"  {name} {args}")
            return await hr.call(name, args, principal=principal, session="demo")

        print("Agent ops works for Ana of acme. It has these tools:")
        for tool in await hr.tools(AGENT):
            print(f"  {tool.level:<12} {tool.id}")

        print("\n1. It searches")
        show(await call("data.searchRecords", {"region": "north"}))

        print("\n2. It looks closer")
        show(await call("data.getRecordDetail", {"id": "rec-004"}))
        show(await call("analysis.scoreRecord", {"id": "rec-001"}))

        print("\n3. It wants to change something, and has to wait")
        waiting = await call("data.updateRecord", {"id": "rec-004", "status": "active"})
        show(waiting)
        [request] = await hr.approvals.list(ANA)
        print(f"  Ana reads: {request.principal.agent} wants {request.tool} with {dict(request.args)}.")
        print("  She agrees.")
        await hr.approvals.approve(request.id, by=ANA)
        show(await hr.wait(waiting.call_id))

        print("\n4. It wants to delete, and may not")
        everything = {"ids": ["rec-001", "rec-002"]}
        show(await call("data.bulkDelete", everything))
        for line in (await hr.explain("data.bulkDelete", everything, AGENT)).explain().splitlines():
            print(f"  {line}")

        print("\n5. An agent of another tenant makes the same calls")
        show(await call("data.searchRecords", {"region": "north"}, STRANGER))
        show(await call("data.getRecordDetail", {"id": "rec-004"}, STRANGER))


def show(outcome: Outcome) -> None:
    """What a person would want to know of an outcome."""
    told = outcome.result
    failed = outcome.status in ("failed", "refused")
    print(f"  {outcome.status}: {f'{told.code}. {told.error}' if failed else told.to_ui()}")
    for line in (told.markdown or "").splitlines():
        print(f"    {line}".rstrip())


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it quietly, as it ends any program
    asyncio.run(main())
