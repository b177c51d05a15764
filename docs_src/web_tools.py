"""web-tools.md: the web tools."""

import asyncio

from handrail import Handrail, Principal

ana = Principal(tenant="acme", user="ana")


async def main() -> None:
    # region use
    from handrail.toolsets.web import WebOptions, web_tools

    options = WebOptions(private_networks=["wiki.acme.example", "10.1.0.0/16"], timeout=20)
    async with Handrail(web_tools(options)) as hr:
        inside = await hr.call("webfetch", {"url": "http://169.254.169.254/latest/meta-data"}, principal=ana)
        assert inside.code == "ADDRESS_REFUSED"

        nobody = await hr.call("web_search", {"query": "handrail height"}, principal=ana)
        assert nobody.code == "NO_SEARCH_PROVIDER"
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
