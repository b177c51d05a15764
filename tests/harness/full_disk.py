"""Fullness: a disk that is full after so many bytes, and what must be true of whoever wanted to write."""

from __future__ import annotations

import asyncio
import resource
import time
from concurrent.futures import Future
from pathlib import Path

from tests.harness import raw_database, shop
from tests.harness.crashes import find_damage
from tests.harness.fork_server import ForkServer
from tests.harness.ledger import Ledger, LedgerWriter
from tests.harness.remote_shop import Answer, RemoteShop, ShopConflict
from tests.harness.shop import open_shop

FRAME = 4096 + 24
"""What SQLite writes at a time: a page and its header."""
CLEAR_CODES = {"LOG_UNAVAILABLE", "INTERNAL_ERROR"}


def call_on_full_disk(fork_server: ForkServer, folder: Path, url: str, writes: int) -> int:
    """Let every write after so many fail, call on, make room again; how many calls were refused meanwhile."""
    with Ledger(folder) as ledger:
        with RemoteShop(fork_server, folder, ledger.path, url) as remote:
            remote.ask("fill_disk", file=f"{url.partition('///')[2]}-wal", free_bytes=writes * FRAME)
            refused = _make_calls(remote)
            remote.ask("free_disk")
            _calls_work_again(remote)
            _until_nothing_is_left(url)
        wrong = find_damage(url, ledger)
    assert wrong == [], f"after {writes} writes: {wrong}"
    assert raw_database.rows(url, "PRAGMA integrity_check") == [{"integrity_check": "ok"}]
    return refused


def _make_calls(remote: RemoteShop) -> int:
    """Calls of every kind. Each is answered clearly, one way or the other."""
    refused = 0
    write = remote.ask("call", tool="shop.charge", order="o1", id="call_1", source="api")
    keyed = remote.ask("call", tool="shop.charge", order="o2", id="call_2", key="k1")
    gated = remote.ask("call", tool="shop.refund", order="o3", id="call_3")
    for answer in (write, keyed, gated):
        if answer["status"] == "refused":
            refused += 1
            assert answer["code"] in CLEAR_CODES and answer["error"], answer
        else:
            assert answer["status"] in ("completed", "pending"), answer
    refused += _is_refused(remote.begin("submit", tool="shop.charge", order="o4"))
    if gated["status"] == "pending":
        refused += _is_refused(remote.begin("approve", approval=gated["approval"]))
    return refused


def _is_refused(answer: Future[Answer]) -> bool:
    """Whether something could not be written down, which then is said in words."""
    error = answer.exception(20)
    assert error is None or isinstance(error, ShopConflict) or "disk" in str(error), error
    return error is not None


def _calls_work_again(remote: RemoteShop) -> None:
    """There is room again: what waits can be decided, and new calls run."""
    for approval in remote.ask("waiting")["approvals"]:
        remote.ask("approve", approval=approval)
    write = remote.ask("call", tool="shop.charge", order="o8", id="call_8", source="api")
    assert write["status"] == "completed"
    keyed = remote.ask("call", tool="shop.charge", order="o2", id="call_7", key="k1")
    assert keyed["status"] in ("completed", "duplicate"), keyed
    submitted = remote.ask("submit", tool="shop.charge", order="o9")
    assert remote.ask("wait", call=submitted["call"])["status"] == "completed"


def _until_nothing_is_left(url: str) -> None:
    deadline = time.monotonic() + 20
    while left := raw_database.unfinished(url):
        assert time.monotonic() < deadline, left
        time.sleep(0.02)


def open_within(url: str, ledger: str, free_bytes: int) -> None:
    """Run in a child: open a database on a disk that has so many bytes for each file."""
    ledger_writer = LedgerWriter(ledger)
    shop.use(ledger_writer, Path(ledger).parent)
    resource.setrlimit(resource.RLIMIT_FSIZE, (free_bytes, resource.RLIM_INFINITY))
    asyncio.run(_open(url, ledger_writer))


async def _open(url: str, ledger_writer: LedgerWriter) -> None:
    try:
        async with open_shop(url):
            ledger_writer.write("opened")
    except Exception as error:
        ledger_writer.write("not opened", why=f"{type(error).__name__}: {error}")
