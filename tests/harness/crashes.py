"""Crashing: processes that die at points drawn by a seed, and what must be true when others took over."""

from __future__ import annotations

import random
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any

from handrail.store.database import Database
from handrail.store.events.verify import LogFlaw, verify
from tests.harness import raw_database, scenarios
from tests.harness.fork_server import ForkServer
from tests.harness.ledger import Ledger
from tests.harness.shop import ONCE, SESSION

PRELOAD = ("tests.harness.scenarios", "tests.harness.preload_database")
DATABASE_SETUP_FILES = ("databases.py", "encryption.py", "engines.py", "file_lock.py", "migrate.py")
"""Where a database comes into being."""
DRAWS = 8
"""How many points are tried for one crash: a rehearsal also passes some that not every run passes."""
Passed = list[list[Any]]
"""File, function, line and how often it ran."""
NewDatabase = Callable[[Path], str]


@dataclass(frozen=True, slots=True)
class CrashPlan:
    """One crash: what is going on, where it dies, and where the one that takes over dies in its turn."""

    seed: int
    scenario: str
    whole: bool
    at: list[Any]
    then: list[Any] | None

    def __str__(self) -> str:
        words = f"seed {self.seed}: {self.scenario} dies at {self.at}"
        return words + (f", and its successor at {self.then}" if self.then else "")


class CrashRunner:
    """Where crashes happen: processes that start at once, and a fresh database each."""

    def __init__(self, fork_server: ForkServer, new_database: NewDatabase) -> None:
        self._fork_server = fork_server
        self._new_database = new_database
        self._passed: dict[tuple[str, bool], Passed] = {}
        self._rehearsing = Lock()

    def crash(self, seed: int) -> None:
        """Let a process die in the middle of what the seed stands for, and check what is left."""
        self._until_one_dies(self._plans(seed))

    def crash_during_setup(self, seed: int) -> None:
        """Let one die while a database that does not exist yet is made, locked, keyed and opened."""
        self._until_one_dies(self._plans_of_making(seed))

    def _plans(self, seed: int) -> Iterator[CrashPlan]:
        """What a seed stands for. The points are those that a rehearsal of the same scenario passed."""
        chance = random.Random(seed)
        names = scenarios.names()
        scenario = names[seed % len(names)]
        while True:
            whole = chance.random() < 0.15
            then = _draw(chance, self._rehearsed(scenario, True)) if chance.random() < 0.25 else None
            yield CrashPlan(seed, scenario, whole, _draw(chance, self._rehearsed(scenario, whole)), then)

    def _plans_of_making(self, seed: int) -> Iterator[CrashPlan]:
        chance = random.Random(seed)
        passed = [one for one in self._rehearsed("a_read", True) if one[0].endswith(DATABASE_SETUP_FILES)]
        while True:
            yield CrashPlan(seed, "a_read", True, _draw(chance, passed), None)

    def _rehearsed(self, scenario: str, whole: bool) -> Passed:
        with self._rehearsing:
            if (scenario, whole) not in self._passed:
                with tempfile.TemporaryDirectory(prefix="crash-") as folder, Ledger(Path(folder)) as ledger:
                    url = self._new_database(Path(folder))
                    assert self._play(scenario, url, ledger, None, whole) == 0
                    [told] = ledger.of("passed")
                    self._passed[scenario, whole] = sorted(told["points"])
            return self._passed[scenario, whole]

    def _until_one_dies(self, plans: Iterator[CrashPlan]) -> None:
        tried = []
        for plan in islice(plans, DRAWS):
            if self._carry_out(plan):
                return
            tried.append(str(plan))
        raise AssertionError("\n".join(["no process died where it should:", *tried]))

    def _carry_out(self, plan: CrashPlan) -> bool:
        """Check what a plan leaves behind; whether the first process died where it should."""
        with tempfile.TemporaryDirectory(prefix="crash-") as folder, Ledger(Path(folder)) as ledger:
            url = self._new_database(Path(folder))
            code = self._play(plan.scenario, url, ledger, plan.at, plan.whole)
            assert code in (0, -signal.SIGKILL), f"{plan}: it ended with {code}"
            if plan.then is not None:
                second = self._recover(url, ledger, plan.then)
                assert second in (0, -signal.SIGKILL), f"{plan}: the successor ended with {second}"
            assert self._recover(url, ledger, None) == 0, f"{plan}: the last one failed"
            wrong = find_damage(url, ledger)
            assert not wrong, "\n".join([str(plan), *wrong])
            return code != 0

    def _play(self, name: str, url: str, ledger: Ledger, at: list[Any] | None, whole: bool) -> int:
        function = "tests.harness.scenarios:play"
        return self._fork_server.run(
            function, name=name, url=url, ledger=str(ledger.path), at=at, whole=whole, timeout=100
        )

    def _recover(self, url: str, ledger: Ledger, at: list[Any] | None) -> int:
        function = "tests.harness.scenarios:recover"
        return self._fork_server.run(function, url=url, ledger=str(ledger.path), at=at, timeout=100)


def _draw(chance: random.Random, passed: Passed) -> list[Any]:
    file, function, line, times = chance.choice(passed)
    return [file, function, line, chance.randint(1, times)]


def find_damage(url: str, ledger: Ledger) -> list[str]:
    """What is wrong after a crash, in words; nothing, if all is well."""
    return [
        *(f"never finished: {one}" for entry in ledger.of("unfinished") for one in entry["left"]),
        *(f"left behind: {one}" for one in raw_database.unfinished(url)),
        *(f"gap: {one}" for one in raw_database.sequence_gaps(url)),
        *_broken_chain(url),
        *_ends(url),
        *raw_database.graph_order_errors(url),
        *_lost_events(url, ledger),
        *_lost_promises(url, ledger),
        *_wrong_effects(url, ledger),
    ]


def _broken_chain(url: str) -> list[str]:
    database = Database(url)
    try:
        return [f"chain: {one}" for one in verify(database, "acme") if isinstance(one, LogFlaw)]
    finally:
        database.close()


def _ends(url: str) -> list[str]:
    return [
        f"run {run} ended as {ends}" for run, ends in raw_database.ends_of_runs(url).items() if len(ends) != 1
    ]


def _lost_events(url: str, ledger: Ledger) -> list[str]:
    """Events that somebody was shown and that are not there."""
    rows = [row for row in raw_database.events(url) if row["session_id"] == SESSION]
    there = {(row["seq"], row["type"], row["call_id"]) for row in rows}
    shown = {(one["seq"], one["type"], one["call"]) for one in ledger.of("event")}
    return [f"lost event: {one}" for one in sorted(shown - there)]


def _lost_promises(url: str, ledger: Ledger) -> list[str]:
    """What a caller was promised and did not come true.

    An agent does not wait until the end of its call is on record, nor for anything of what only reads.
    """
    wrong = []
    for entry in ledger.of("answered"):
        call, status = entry["call"], entry["status"]
        end = raw_database.end_of_call(url, call)
        if end is None and call != "call_read" and call != "call_second":
            wrong.append(f"{call} was answered {status}, and the log knows no end of it")
        waited = entry["source"] in ("api", "job") and status == "completed"
        if waited and end is not None and end[0] != "tool.completed":
            wrong.append(f"{call} was answered completed, and the log says {end}")
    accepted = (*ledger.of("submitted"), *ledger.of("approved"))
    lost = [entry["call"] for entry in accepted if raw_database.end_of_call(url, entry["call"]) is None]
    return wrong + [f"{call} was accepted and never ended" for call in lost]


def _wrong_effects(url: str, ledger: Ledger) -> list[str]:
    """Effects that happened twice, without being on record, or not at all though the log says so."""
    rows = raw_database.events(url)
    began = {row["call_id"] for row in rows if row["type"] == "tool.started"}
    completed = {row["call_id"] for row in rows if row["type"] == "tool.completed"}
    effects = ledger.of("effect")
    times = Counter((one["tool"], one["order"]) for one in effects)
    twice = [f"{tool} of {order}" for (tool, order), n in times.items() if tool in ONCE and n > 1]
    writes = {one["call"] for one in effects if one["tool"] != "shop.look"}
    wrong = [f"{one} happened more than once" for one in twice]
    wrong += [f"{call} had an effect before its start was on record" for call in writes - began]
    wrong += [f"{call} is completed without effect" for call in completed - {one["call"] for one in effects}]
    for row in rows:
        if row["code"] == "UNKNOWN_OUTCOME" and row["tool"] not in ONCE:
            wrong.append(f"{row['call_id']} may be repeated, and was given up")
    return wrong
