"""guard.md: what each approval mode says, as the guard itself says it."""

import asyncio
from typing import Any

from handrail import Handrail, Policy, Principal, tool

LEVELS = ("read", "draft", "write", "destructive")
DANGERS = ("safe", "moderate", "dangerous")
ROWS = [
    ("read, draft", "safe", {"level": "read", "danger": "safe"}),
    ("read, draft", "moderate", {"level": "draft", "danger": "moderate"}),
    ("write", "safe", {"level": "write", "danger": "safe"}),
    ("write", "moderate", {"level": "write", "danger": "moderate"}),
    ("any", "dangerous", {"level": "read", "danger": "dangerous"}),
    ("destructive", "any", {"level": "destructive", "danger": "safe"}),
    ('any, `policy="always_ask"`', "any", {"level": "read", "danger": "safe", "policy": "always_ask"}),
]
PERSON = Principal(tenant="acme", user="ana")


async def verdict_of(options: dict[str, Any], mode: Any, source: Any) -> str:
    @tool("act", **options)
    def act() -> None:
        """Act."""

    async with Handrail([act], policy=Policy(approval_mode=mode)) as hr:
        decision = await hr.explain("act", {}, PERSON, source=source)
        return "confirm" if decision.by == "caller" else decision.verdict


async def main() -> None:
    print("| level | danger | agent, `strict` | agent, `policy` | agent, `danger` | person |")
    print("|---|---|---|---|---|---|")
    for level, danger, options in ROWS:
        verdicts = [await verdict_of(options, mode, "agent") for mode in ("strict", "policy", "danger")]
        verdicts.append(await verdict_of(options, "strict", "web"))
        print(f"| {level} | {danger} | {' | '.join(verdicts)} |")

    for level in LEVELS:
        for danger in DANGERS:
            options = {"level": level, "danger": danger}
            for mode in ("strict", "policy", "danger"):
                grave = level == "destructive" or danger == "dangerous"
                assert not grave or await verdict_of(options, mode, "agent") == "ask"
                assert not grave or await verdict_of(options, mode, "web") == "confirm"

    # region moderate
    relaxed = Policy(approval_mode="danger", moderate="allow")
    # endregion

    @tool("act", level="write", danger="moderate")
    def act() -> None:
        """Act."""

    async with Handrail([act], policy=relaxed) as hr:
        assert (await hr.call("act")).ok


if __name__ == "__main__":
    asyncio.run(main())
