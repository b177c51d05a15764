"""rest.md: a program that calls tools over HTTP."""

import asyncio
import json
from typing import Any

import httpx

from handrail import Handrail, Principal, tool


@tool("orders.count", level="read")
async def count(region: str) -> int:
    """Count the orders of a region that are not delivered yet.

    Args:
        region: The region's name, such as north.
    """
    return {"north": 3}.get(region, 0)


@tool("orders.cancel", level="write")
async def cancel(order: str) -> str:
    """Cancel an order that is not delivered yet; the customer is told.

    Use it when the customer asks for it. Not to change an order. Call orders.count first.

    Args:
        order: The order's number, such as o-17.
    """
    return f"{order} is cancelled"


async def calls(http: httpx.AsyncClient) -> None:
    # region call
    answer = await http.post("/api/tools/orders-count/call", json={"arguments": {"region": "north"}})
    body = answer.json()
    assert (answer.status_code, body["status"], body["success"]) == (200, "completed", True)
    assert body["result"]["data"] == 3
    assert body["run_id"].startswith("run_")

    answer = await http.post("/api/tools/orders-count/call", json={"arguments": {"regoin": "north"}})
    assert answer.status_code == 422
    print(json.dumps(answer.json(), indent=2))
    # endregion


async def once(http: httpx.AsyncClient) -> None:
    # region key
    body, key = {"arguments": {"region": "north"}}, {"idempotency-key": "report-7"}
    first = await http.post("/api/tools/orders-count/call", json=body, headers=key)
    again = await http.post("/api/tools/orders-count/call", json=body, headers=key)
    assert (first.json()["status"], again.json()["status"]) == ("completed", "duplicate")
    assert first.json()["run_id"] == again.json()["run_id"]

    other = await http.post(
        "/api/tools/orders-count/call", json={"arguments": {"region": "south"}}, headers=key
    )
    assert (other.status_code, other.json()["error"]["code"]) == (409, "KEY_REUSED")
    # endregion


async def later(http: httpx.AsyncClient) -> None:
    # region later
    answer = await http.post(
        "/api/tools/orders-count/call",
        json={"arguments": {"region": "north"}},
        headers={"prefer": "respond-async"},
    )
    assert (answer.status_code, answer.json()["status"]) == (202, "queued")
    ended = await http.get(answer.headers["location"], params={"wait": 30})
    assert ended.json()["result"]["data"] == 3
    # endregion


async def asks(bot: httpx.AsyncClient, reviewer: httpx.AsyncClient) -> None:
    # region approve
    answer = await bot.post("/api/tools/orders-cancel/call", json={"arguments": {"order": "A-7"}})
    assert (answer.status_code, answer.json()["code"]) == (202, "NEEDS_APPROVAL")

    [question] = (await reviewer.get("/api/approvals")).json()["approvals"]
    assert question["arguments"] == {"order": "A-7"}
    await reviewer.post(f"{question['url']}/approve", json={"arguments": {"order": "A-8"}})

    ended = await bot.get(answer.json()["url"], params={"wait": 30})
    assert ended.json()["result"]["data"] == "A-8 is cancelled"
    # endregion


async def follows(http: httpx.AsyncClient) -> None:
    # region stream
    answer = await http.post("/api/tools/orders-count/stream", json={"arguments": {"region": "north"}})
    print([line for line in answer.text.splitlines() if not line.startswith("data")])

    rest = await http.get(answer.headers["location"], headers={"last-event-id": "1"})
    assert rest.text.startswith("id: 2\nevent: tool.completed\n")
    # endregion


async def main() -> None:
    people = {
        "key-of-ana": Principal("acme", "ana", permissions=["*"], key="person"),
        "key-of-bot": Principal("acme", "ana", agent="bot"),
    }
    async with Handrail([count, cancel]) as hr:
        # region app
        from handrail.doors.http.api import build_api
        from handrail.platform import platform_of
        from handrail.platform.middleware import SecurityMiddleware

        platform = platform_of(hr, keys=people)  # with a database, leave `keys` out
        app = SecurityMiddleware(build_api(platform), platform)
        # endregion
        ana, bot = (_client(app, key) for key in people)
        await calls(ana)
        await once(ana)
        await later(ana)
        await asks(bot, ana)
        await follows(ana)


def _client(app: Any, key: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app),
        base_url="http://127.0.0.1",
        headers={"authorization": f"Bearer {key}"},
    )


if __name__ == "__main__":
    asyncio.run(main())
