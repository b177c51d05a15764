"""conformance.md: the rules, as the code has them."""

import asyncio

from handrail.conformance import RULES


async def main() -> None:
    print("| rule | level | a conformant tool | requirement |\n|---|---|---|---|")
    for rule in RULES:
        print(f"| `{rule.slug}` | {rule.level} | {rule.sentence} | {rule.requirement} |")


if __name__ == "__main__":
    asyncio.run(main())
