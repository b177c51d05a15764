"""ports.md: work outside any call, on behalf of a tenant."""

import asyncio

# region tenant
from handrail import Context, Handrail, tool
from handrail.ext.compat import get_tenant_id_for_tool, tool_context


@tool("reports.count", level="read")
async def count_reports(*, ctx: Context) -> str:
    """Count the reports that the tenant at hand has stored."""
    return f"3 reports of {get_tenant_id_for_tool()}"


async def nightly(hr: Handrail) -> str:
    with tool_context("acme"):
        out = await hr.call("reports.count", source="job")
    return str(out.result.data)


# endregion


async def main() -> None:
    async with Handrail([count_reports]) as hr:
        assert await nightly(hr) == "3 reports of acme"


if __name__ == "__main__":
    asyncio.run(main())
