"""calls.md: secrets that a tool needs and nobody else may see."""

import asyncio

# region tools
from pydantic import SecretStr

from handrail import Context, Handrail, tool


@tool("bank.balance", level="read")
async def balance(*, ctx: Context) -> str:
    """Say how much money there is on the account at the bank."""
    token = ctx.secret("BANK_TOKEN")
    return f"The bank said: token {token} accepted, 100 EUR."


@tool("bank.login", level="read")
async def login(user: str, pin: SecretStr) -> str:
    """Log in with a PIN that a person typed.

    Args:
        user: Whose account it is.
        pin: What the person typed.
    """
    return f"{user} logged in with {len(pin.get_secret_value())} digits."


# endregion


async def main() -> None:
    # region call
    async with Handrail([balance, login], secrets={"BANK_TOKEN": "t0p-s3cret"}) as hr:
        out = await hr.call("bank.balance")
        assert out.result.data == "The bank said: token ••• accepted, 100 EUR."

        await hr.call("bank.login", {"user": "ana", "pin": "4711"}, session="s1")
        [started, _] = hr.log.read("local", session="s1")
        assert started.payload()["input"] == {"user": "ana", "pin": "•••"}
    # endregion
    async with Handrail([balance]) as hr:
        out = await hr.call("bank.balance")
        assert (out.status, out.code) == ("failed", "SECRET_MISSING")


if __name__ == "__main__":
    asyncio.run(main())
