"""upgrade_with: so many runs in flight while the workers are replaced by those of the next version."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.worker_processes import ANA, eventually, submitting_client, workers

NAMES = ("shop.look", "shop.leaves", "shop.changes")


async def upgrade_workers(number: int, url: str, folder: Path, seconds: float = 60) -> None:
    """All finish, or are blocked and say why; none is lost, and none has its effect twice."""
    with workers(url, folder) as staff:
        async with submitting_client(url, folder) as hr:
            outs = [
                await hr.submit(NAMES[n % 3], {"name": f"n{n}"}, principal=ANA, delay=0.0 if n % 2 else 2.0)
                for n in range(number)
            ]
            old = staff.start()
            await eventually(lambda: len(staff.effects()) >= number // 5)
            staff.kill(old)
            staff.start("upgraded")
            left = {out.call_id for out in outs}

            async def all_settled() -> bool:
                for call_id in sorted(left):
                    entry = await hr._jobs.get(call_id, "acme")
                    assert entry is not None, "a job was lost"
                    if entry.state in ("done", "blocked"):
                        left.discard(call_id)
                return not left

            await eventually(all_settled, seconds)
            blocked = await hr._jobs.list("acme", state="blocked")
            for entry in blocked:
                assert entry.tool in ("shop.leaves", "shop.changes")
                assert entry.reason and entry.tool in entry.reason
            ids = {entry.id for entry in blocked}
            for out in outs:
                kinds = [event.kind for event in hr.log.read("acme", call_id=out.call_id)]
                if out.call_id in ids:
                    assert "completed" not in kinds
                else:
                    assert kinds == ["started", "completed"], (out.tool, kinds)
            assert blocked, "the next version has fewer tools"
