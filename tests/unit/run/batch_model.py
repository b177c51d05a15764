"""A model of reads and writes: calls of a pass, where their bodies run, and who met whom there."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from hypothesis import strategies as st

from handrail import Call, Context, Handrail, Principal, ToolError, tool
from handrail.core.tell.log import open_runs

ANA = Principal(tenant="acme", user="ana")

KEYS = ["a", "b", "dir/x", "dir/y", "dir/"]
Ending = Literal["well", "fails", "times out", "is refused", "waits for a person", "is cancelled"]


@dataclass(frozen=True)
class ModelCall:
    """One call of a pass, as the model of reads and writes sees it."""

    reads: frozenset[str]
    writes: frozenset[str]
    alone: bool
    steps: int
    ending: Ending = "well"

    def clashes(self, other: "ModelCall") -> bool:
        if self.alone or other.alone:
            return True
        return (
            _meet(self.writes, other.writes)
            or _meet(self.writes, other.reads)
            or _meet(self.reads, other.writes)
        )

    @property
    def runs(self) -> bool:
        return self.ending not in ("is refused", "waits for a person")


def _meet(some: Iterable[str], others: Iterable[str]) -> bool:
    return any(
        one == other
        or (one.endswith("/") and other.startswith(one))
        or (other.endswith("/") and one.startswith(other))
        for one in some
        for other in others
    )


class BatchRecorder:
    """Where bodies run, and who was on it together with whom."""

    def __init__(self, plan: list[ModelCall]) -> None:
        self.plan = plan
        self.on: set[int] = set()
        self.met: set[tuple[int, int]] = set()
        self.order: list[tuple[str, int]] = []
        self.most = 0
        self.written: dict[str, int] = {}
        self.seen: dict[int, dict[str, int | None]] = {}

    async def play(self, number: int, cancel: Callable[[], object]) -> int:
        mine = self.plan[number]
        self.met |= {(min(other, number), max(other, number)) for other in self.on}
        self.on.add(number)
        self.order.append(("begins", number))
        self.most = max(self.most, len(self.on))
        self.seen[number] = {key: self.written.get(key) for key in mine.reads}
        try:
            for _ in range(mine.steps):
                await asyncio.sleep(0)
            if mine.ending == "fails":
                raise ToolError("It did not work.")
            if mine.ending == "times out":
                await asyncio.Event().wait()
            if mine.ending == "is cancelled":
                cancel()
                await asyncio.Event().wait()
            self.written |= dict.fromkeys(mine.writes, number)
        finally:
            self.on.remove(number)
            self.order.append(("ends", number))
        return number


def batch_handrail(stage: BatchRecorder, **more: Any) -> Handrail:
    def reads(args: Any) -> Any:
        return stage.plan[args.number].reads

    def writes(args: Any) -> Any:
        return stage.plan[args.number].writes

    async def body(number: int, *, ctx: Context) -> int:
        """Play a part."""
        cancel = asyncio.get_running_loop().call_soon
        return await stage.play(number, lambda: cancel(lambda: asyncio.ensure_future(hr.cancel(ctx.call_id))))

    kinds: dict[str, dict[str, Any]] = {
        "plain": {},
        "late": {"timeout": 0.001},
        "asked": {"policy": "always_ask"},
    }
    classes = {"keyed": "parallel", "alone": "sequential"}
    tools = [
        tool(f"stage.{kind}_{name}", level="read", reads=reads, writes=writes, concurrency=value, **options)(
            body
        )
        for kind, options in kinds.items()
        for name, value in classes.items()
    ]
    hr = Handrail(tools, **more)
    return hr


def calls(plan: list[ModelCall]) -> list[Call]:
    def one(number: int, planned: ModelCall) -> Call:
        kind = {"times out": "late", "waits for a person": "asked"}.get(planned.ending, "plain")
        args = {"number": "nine"} if planned.ending == "is refused" else {"number": number}
        name = f"stage.{kind}_{'alone' if planned.alone else 'keyed'}"
        return Call(name, args, principal=ANA, session="s", id=f"c{number}")

    return [one(number, planned) for number, planned in enumerate(plan)]


keys = st.frozensets(st.sampled_from(KEYS), max_size=2)
endings: st.SearchStrategy[Ending] = st.sampled_from(
    ["well", "well", "well", "fails", "times out", "is refused", "waits for a person", "is cancelled"]
)


good: st.SearchStrategy[Ending] = st.just("well")


def plans(ending: st.SearchStrategy[Ending] = good, longest: int = 9) -> st.SearchStrategy[list[ModelCall]]:
    part = st.builds(
        ModelCall,
        reads=keys,
        writes=keys,
        alone=st.sampled_from([False] * 5 + [True]),
        steps=st.integers(0, 4),
        ending=ending,
    )
    return st.lists(part, max_size=longest)


STATUS = {
    "well": "completed",
    "fails": "failed",
    "times out": "failed",
    "is refused": "refused",
    "waits for a person": "pending",
    "is cancelled": "cancelled",
}


async def check_batch(plan: list[ModelCall], limit: int) -> None:
    """Run a pass and hold it to what batches promise."""
    stage = BatchRecorder(plan)
    async with batch_handrail(stage) as hr:
        outcomes = await hr.call_many(calls(plan), limit=limit)

        assert [out.call_id for out in outcomes] == [f"c{number}" for number in range(len(plan))]
        assert [out.status for out in outcomes] == [STATUS[planned.ending] for planned in plan]
        assert [out.result.data for out in outcomes if out.ok] == [
            number for number, planned in enumerate(plan) if planned.ending == "well"
        ]
        assert hr._runtime.running == {} and open_runs(hr.log.read("acme")) == set()
    assert not [pair for pair in stage.met if plan[pair[0]].clashes(plan[pair[1]])]
    assert stage.most <= limit
    at = {event: place for place, event in enumerate(stage.order)}
    for second, later in enumerate(plan):
        for first, earlier in enumerate(plan[:second]):
            if earlier.clashes(later) and earlier.runs and later.runs:
                assert at["ends", first] < at["begins", second]
    for number, seen in stage.seen.items():
        for key, written in seen.items():
            before = [n for n, one in enumerate(plan[:number]) if one.ending == "well" and key in one.writes]
            assert written == (before[-1] if before else None)
