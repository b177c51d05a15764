"""Handrail in sixty seconds: an agent works with a shop's orders, and the guard stands in between."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import Any, Literal

from pydantic import BaseModel

from handrail import Context, Handrail, Outcome, Policy, Principal, Rule, tool

# The tools. A function is enough: its parameters are the input, its docstring the description.


class Order(BaseModel):
    number: str
    total: float
    status: Literal["open", "paid", "refunded"]


ORDERS = {
    order.number: order
    for order in (
        Order(number="A-17", total=42.5, status="paid"),
        Order(number="A-18", total=980, status="paid"),
        Order(number="A-19", total=12, status="open"),
    )
}


@tool("orders.find", level="read")
async def find_orders(
    status: Literal["open", "paid", "refunded"] | None = None, limit: int = 10
) -> list[Order]:
    """Find orders, newest first, all of them or those with one status.

    Args:
        status: Only orders in this state.
        limit: How many at most.
    """
    orders = [order for order in reversed(ORDERS.values()) if status in (None, order.status)]
    return orders[:limit]


@tool("orders.refund", level="write", writes=lambda args: f"order:{args.number}")
async def refund_order(number: str, amount: float, *, ctx: Context) -> str:
    """Pay money back for an order that was paid, in EUR.

    Use it when something was sent back, not for open orders. Look with orders.find first.

    Args:
        number: The order, such as A-17.
        amount: How much to pay back, in EUR.
    """
    ORDERS[number] = ORDERS[number].model_copy(update={"status": "refunded"})
    return f"{amount:.2f} EUR paid back for {number}, asked for by {ctx.agent_id}."


# The policy. A rule carries examples of what it must and must not match, or it does not load.

POLICY = Policy(
    approval_mode="strict",
    rules=[
        Rule(
            name="large refunds",
            tool="orders.refund",
            when={"amount": {"gt": 500}},
            verdict="deny",
            reason="refunds above 500 EUR are made by accounting",
            match=[{"amount": 501}],
            not_match=[{"amount": 500}],
        )
    ],
)
AGENT = Principal(tenant="shop", user="ana", agent="ops")


async def main() -> None:
    async with Handrail([find_orders, refund_order], policy=POLICY, approver=ask_a_person) as hr:

        async def call(name: str, args: dict[str, Any]) -> Outcome:
            say(f"  {name} {args}")
            return await hr.call(name, args, principal=AGENT, session="demo")

        say(bold("Handrail in sixty seconds"))
        say("An agent called ops works on Ana's orders. It has two tools:")
        for listed in await hr.tools(AGENT):
            say(f"  {listed.id:<14} {listed.level:<6} {listed.description}")

        title("1. A call that is right")
        show(await call("orders.find", {"status": "paid"}))

        title("2. A call with mistakes that cost nothing to repair")
        show(await call("orders.find", {"Status": "PAID", "limit": "1"}))

        title("3. A call that could mean anything")
        show(await call("orders.find", {"limit": "a few"}))

        title("4. A call that is not allowed, and why")
        too_much: dict[str, Any] = {"number": "A-18", "amount": 980}
        show(await call("orders.refund", too_much))
        say()
        say(dim("  hr.explain() shows every step that was consulted, the deciding one marked:"))
        decision = await hr.explain("orders.refund", too_much, AGENT)
        for line in decision.explain().splitlines():
            say(f"  {line}")

        title("5. A call that needs a person")
        show(await call("orders.refund", {"number": "A-17", "amount": 42.5}))

        title("6. What the event log holds")
        for event in hr.log.read("shop", session="demo"):
            say(f"  {event.seq:>2}  {event.type:<20} {event.tool:<14} {dim(gist(event.to_dict()))}")

        say()
        say("Nothing ran that was refused, and nothing changed that nobody approved.")
        say("The code is in examples/sixty_seconds.py; more is in docs/index.md.")


async def ask_a_person(request: Any) -> bool:
    """Who asks, what for, with what, and why: then yes or no."""
    say()
    who = request.principal.agent
    say(f"  agent {who} wants to run {bold(request.tool)} ({request.level}, {request.danger})")
    for name, value in request.args.items():
        say(f"    {name:<8} {value}")
    say(f"    because  {request.reason}")
    if sys.stdin.isatty() and sys.stdout.isatty():
        say("  Approve? [y/n] ", end="")
        yes = (await typed_line()).strip().lower() in ("y", "yes")
    else:
        say(dim("  This is not a terminal, so a scripted reviewer answers: yes."))
        yes = True
    say()
    return yes


async def typed_line() -> str:
    """One line from the terminal, while the loop goes on and Ctrl-C works."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(sys.stdin, ready.set)
    try:
        await ready.wait()
        return sys.stdin.readline()
    finally:
        loop.remove_reader(sys.stdin)


def show(outcome: Outcome) -> None:
    """What a person would want to know of an outcome."""
    for repair in outcome.repairs:
        say(f"  {amber('repaired ')}  {repair}")
    if outcome.ok:
        say(f"  {green('completed')}  {outcome.to_model()}")
    else:
        say(f"  {red(f'{outcome.status:<9}')}  {outcome.code}: {outcome.result.error}")


def gist(event: dict[str, Any]) -> str:
    """One line of what an event adds."""
    match event["type"]:
        case "tool.started":
            count = len(event["repairs"])
            return f"{event['input']}" + (f", {count} repairs" if count else "")
        case "tool.completed":
            data = event["result"]["data"]
            return f"{len(data)} found" if isinstance(data, list) else str(data)
        case "tool.failed":
            return f"{event['code']}, layer {event['layer']}"
        case "tool.approved":
            return "with other arguments" if event["edited"] else "as asked"
        case _:
            return str(event["reason"])


COLOURS = sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def coloured(code: int, text: str) -> str:
    return f"\033[{code}m{text}\033[0m" if COLOURS else text


def bold(text: str) -> str:
    return coloured(1, text)


def dim(text: str) -> str:
    return coloured(2, text)


def red(text: str) -> str:
    return coloured(31, text)


def green(text: str) -> str:
    return coloured(32, text)


def amber(text: str) -> str:
    return coloured(33, text)


def title(text: str) -> None:
    say(f"\n{bold(text)}")


def say(text: str = "", end: str = "\n") -> None:
    print(text, end=end, flush=True)


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it quietly, as it ends any program
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        say("\nStopped.")
        sys.exit(130)
