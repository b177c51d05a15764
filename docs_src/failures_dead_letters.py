"""failures.md: dead letters and their replay."""

import asyncio

from handrail import Context, Handrail, Principal, tool

SERVER = {"down": True}
KEYS: list[str] = []


@tool("mail.send", level="draft")
async def send_mail(to: str, *, ctx: Context) -> str:
    """Send a short mail that says hello to one person.

    Args:
        to: the name of the person
    """
    KEYS.append(ctx.idempotency_key)
    if SERVER["down"]:
        raise ConnectionError("the mail server is down")
    return f"Sent to {to}."


async def main() -> None:
    ana = Principal(tenant="acme", user="ana")
    # region replay
    async with Handrail([send_mail]) as hr:
        await hr.call("mail.send", {"to": "bo"}, principal=ana, session="s1")

        [letter] = await hr.dead_letters.list(ana, session="s1")
        assert (letter.tool, letter.args) == ("mail.send", {"to": "bo"})
        assert (letter.error, letter.attempts) == ("the mail server is down", 1)

        SERVER["down"] = False
        out = await hr.dead_letters.replay(letter.id, by=ana)
        assert out.result.data == "Sent to bo."
        assert KEYS[0] == KEYS[1]  # what the mail server takes for one and the same mail

        [letter] = await hr.dead_letters.list(ana)
        assert (letter.status, letter.replays) == ("replayed", (out.call_id,))
        await hr.dead_letters.purge(letter.id, by=ana)
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
