"""tools.md: what a body learns from its context."""

import asyncio

# region tool
from handrail import Context, Handrail, Principal, tool


@tool("files.scan", level="read", optional_capabilities=["network"])
async def scan_files(folder: str, *, ctx: Context) -> str:
    """Scan the files of a folder for viruses, one by one.

    Args:
        folder: The folder's name.
    """
    ctx.metadata(title="Loading signatures", fresh="network" in ctx.capabilities)
    for name in ("a.txt", "b.txt"):
        ctx.append_output(f"{name}: clean\n")
    return f"{folder} is clean, {ctx.user_id} of {ctx.tenant_id}."


# endregion


async def main() -> None:
    async with Handrail([scan_files], create_context=lambda tool, call_id: {"trace": f"{tool}!"}) as hr:
        ana = Principal(tenant="acme", user="ana")
        heard: list[tuple[str, object]] = []
        hr.subscribe(lambda event: heard.append((event.kind, event.payload())))
        out = await hr.call("files.scan", {"folder": "in"}, principal=ana, session="s1", id="c1", turn=3)
        assert out.result.data == "in is clean, ana of acme."
        kinds = [kind for kind, _ in heard]
        assert kinds == ["started", "progress", "chunk", "chunk", "completed"]

    @tool("whoami", level="read")
    async def whoami(*, ctx: Context) -> list[object]:
        """Say what is known of this call."""
        return [
            *(ctx.tenant_id, ctx.user_id, ctx.agent_id, ctx.session_id, ctx.call_id, ctx.source, ctx.turn),
            *(ctx.idempotency_key, dict(ctx.extra), sorted(ctx.capabilities)),
        ]

    async with Handrail([whoami], create_context=lambda tool, call_id: {"trace": tool}) as hr:
        out = await hr.call("whoami", principal=ana, session="s1", id="c1", turn=3)
    capabilities = ["execute", "network", "read", "write"]
    assert out.result.data == [
        *("acme", "ana", None, "s1", "c1", "agent", 3, "c1", {"trace": "whoami"}),
        capabilities,
    ]


if __name__ == "__main__":
    asyncio.run(main())
