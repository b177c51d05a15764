"""testing.md: one call in one line, in a test that does not await."""

import asyncio

from docs_src.first_call import count_stock

# region sync
from handrail.testing import call_sync


def test_a_count_is_a_number() -> None:
    assert call_sync(count_stock, {"item": "bolt"}).result.data == 9


# endregion


async def main() -> None:
    await asyncio.to_thread(test_a_count_is_a_number)


if __name__ == "__main__":
    asyncio.run(main())
