"""Life: everything that can happen to calls, in any order, and a simple model of what must come of it.

The shop runs in a process of its own. A crash is a real one: it is killed, and another one opens the same
database. The model knows each call's status and how often its effect has happened.
"""

from __future__ import annotations

import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from itertools import count
from pathlib import Path
from typing import ClassVar, cast

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from handrail.core.run.jobs.perform import JobContext
from tests.harness import raw_database
from tests.harness.fork_server import ForkServer
from tests.harness.ledger import Ledger
from tests.harness.remote_shop import Answer, RemoteShop, ShopConflict
from tests.harness.shop import LIFETIME

_NO_SHRINKING = (Phase.explicit, Phase.generate)
"""An example takes real time, so a failing one is shown as it was found."""

_MAX_ATTEMPTS = cast(int, next(one.default for one in fields(JobContext) if one.name == "attempts"))
"""How many processes may die over a job before it is given up."""
NewDatabase = Callable[[], str | None]


@dataclass(eq=False)
class ExpectedCall:
    """One call, and what the model expects of it."""

    call: str
    order: str
    tool: str
    status: str
    """pending, running, or how it ended."""
    code: str | None = None
    effects: int = 0
    approval: str | None = None
    key: str | None = None
    submitted: bool = False
    answer: Future[Answer] | None = field(default=None, repr=False)

    @property
    def waited_for(self) -> bool:
        """Whether it goes on without its caller."""
        return self.submitted or self.approval is not None

    @property
    def repeatable(self) -> bool:
        return self.tool in ("shop.sync", "shop.look")


class CallLifecycle(RuleBasedStateMachine):
    """Told what database to use, and how to start processes, by `lives_in`."""

    fork_server: ClassVar[ForkServer]
    database: ClassVar[NewDatabase]
    survives: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="life-")
        self.root = Path(self.folder.name)
        self.ledger = Ledger(self.root)
        self.url = type(self).database()
        self.now = 1_000_000.0
        self.remote = self._open()
        self.expected_calls: list[ExpectedCall] = []
        self.letters: dict[str, ExpectedCall] = {}
        self.numbers = count(1)

    def _open(self) -> RemoteShop:
        return RemoteShop(self.fork_server, self.root, self.ledger.path, self.url, self.now)

    def _expect(self, tool: str, status: str, effects: int = 0, **more: object) -> ExpectedCall:
        number = next(self.numbers)
        expected = ExpectedCall(f"call_{number}", f"o{number}", tool, status, effects=effects, **more)  # type: ignore[arg-type]
        self.expected_calls.append(expected)
        return expected

    def _of(self, status: str) -> list[ExpectedCall]:
        return [expected for expected in self.expected_calls if expected.status == status]

    def _draw(self, data: st.DataObject, expected_calls: list[ExpectedCall]) -> ExpectedCall:
        return data.draw(st.sampled_from(expected_calls))

    def _sign(self, kind: str, order: str) -> None:
        (self.root / f"{kind}-{order}").touch()

    def _ended(self, expected: ExpectedCall, status: str, code: str | None = None, effects: int = 0) -> None:
        """The model learns how a call ends; the shop must say the same."""
        expected.status, expected.code = status, code
        expected.effects += effects
        if expected.answer is not None:
            answer, expected.answer = expected.answer.result(30), None
        else:
            answer = self.remote.ask("wait" if expected.waited_for else "look", call=expected.call)
        assert (answer["status"], answer["code"]) == (status, code), expected

    # --- calls that run at once

    @rule(source=st.sampled_from(["api", "agent"]), tool=st.sampled_from(["shop.charge", "shop.print"]))
    def write(self, source: str, tool: str) -> None:
        expected = self._expect(tool, "completed", 1)
        answer = self.remote.ask("call", tool=tool, order=expected.order, id=expected.call, source=source)
        assert answer["status"] == "completed"

    @rule()
    def write_under_a_key(self) -> None:
        expected = self._expect("shop.charge", "completed", 1, key=f"k{len(self.expected_calls)}")
        answer = self.remote.ask(
            "call", tool=expected.tool, order=expected.order, id=expected.call, key=expected.key
        )
        assert answer["status"] == "completed"

    @precondition(lambda self: any(expected.key for expected in self.expected_calls))
    @rule(data=st.data(), other=st.booleans())
    def write_again_under_the_key(self, data: st.DataObject, other: bool) -> None:
        first = self._draw(data, [expected for expected in self.expected_calls if expected.key])
        order = "other" if other else first.order
        id = f"again_{next(self.numbers)}"
        answer = self.remote.ask("call", tool=first.tool, order=order, id=id, key=first.key)
        assert answer["status"] == ("refused" if other else "duplicate"), answer

    @rule()
    def submit(self) -> None:
        expected = self._expect("shop.charge", "queued", submitted=True)
        expected.call = self.remote.ask("submit", tool=expected.tool, order=expected.order)["call"]
        self._ended(expected, "completed", effects=1)

    # --- calls that take their time

    @precondition(lambda self: len(self._of("running")) < 5)  # fewer than run at once for one tenant
    @rule(tool=st.sampled_from(["shop.ship", "shop.sync"]), submitted=st.booleans())
    def begin(self, tool: str, submitted: bool) -> None:
        expected = self._expect(tool, "running", submitted=submitted)
        if submitted:
            expected.call = self.remote.ask("submit", tool=tool, order=expected.order)["call"]
        else:
            expected.answer = self.remote.begin("call", tool=tool, order=expected.order, id=expected.call)
        self._until_effect(expected)

    def _until_effect(self, expected: ExpectedCall) -> None:
        expected.effects += 1
        deadline = time.monotonic() + 30
        while self._effects(expected.order) < expected.effects:
            assert time.monotonic() < deadline, f"{expected} did not begin"
            time.sleep(0.002)

    @precondition(lambda self: self._of("running"))
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        expected = self._draw(data, self._of("running"))
        self._sign("release", expected.order)
        self._ended(expected, "completed")

    @precondition(lambda self: self._of("running"))
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        expected = self._draw(data, self._of("running"))
        assert self.remote.ask("cancel", call=expected.call) == {"stopped": True}
        self._ended(expected, "cancelled", "CANCELLED")

    # --- calls that wait for a person

    @rule()
    def ask(self) -> None:
        expected = self._expect("shop.refund", "pending")
        answer = self.remote.ask("call", tool=expected.tool, order=expected.order, id=expected.call)
        assert answer["status"] == "pending"
        expected.approval = answer["approval"]

    @precondition(lambda self: self._of("pending"))
    @rule(data=st.data(), how=st.sampled_from(["approve", "edit", "reject", "respond"]))
    def decide(self, data: st.DataObject, how: str) -> None:
        expected = self._draw(data, self._of("pending"))
        if how == "edit":
            expected.order = f"edited-{expected.order}"
            self.remote.ask("approve", approval=expected.approval, order=expected.order)
        else:
            self.remote.ask(how, approval=expected.approval)
        if how == "reject":
            self._ended(expected, "refused", "REJECTED")
        else:
            self._ended(expected, "completed", effects=0 if how == "respond" else 1)

    @precondition(lambda self: self._of("pending"))
    @rule(data=st.data())
    def decide_at_once(self, data: st.DataObject) -> None:
        """Several answers at the same moment: one counts, the others get a conflict."""
        expected = self._draw(data, self._of("pending"))
        answers = {
            how: self.remote.begin(how, approval=expected.approval)
            for how in ("approve", "reject", "respond")
        }
        won = [how for how, answer in answers.items() if answer.exception(40) is None]
        lost = [answer.exception() for answer in answers.values() if answer.exception() is not None]
        assert len(won) == 1 and all(isinstance(error, ShopConflict) for error in lost), (won, lost)
        if won == ["reject"]:
            self._ended(expected, "refused", "REJECTED")
        else:
            self._ended(expected, "completed", effects=1 if won == ["approve"] else 0)

    @precondition(
        lambda self: any(
            expected.approval and expected.status != "pending" for expected in self.expected_calls
        )
    )
    @rule(data=st.data(), how=st.sampled_from(["approve", "reject", "respond"]))
    def decide_too_late(self, data: st.DataObject, how: str) -> None:
        over = [
            expected for expected in self.expected_calls if expected.approval and expected.status != "pending"
        ]
        with pytest.raises(ShopConflict):
            self.remote.ask(how, approval=self._draw(data, over).approval)

    @precondition(lambda self: self._of("pending"))
    @rule()
    def expire(self) -> None:
        self.now = self.remote.ask("turn", seconds=LIFETIME + 1)["now"]
        for expected in self._of("pending"):
            with pytest.raises(ShopConflict):
                self.remote.ask("approve", approval=expected.approval)
            self._ended(expected, "refused", "APPROVAL_EXPIRED")

    # --- calls that fail

    @rule()
    def fail(self) -> None:
        expected = self._expect("shop.stamp", "failed", code="TOOL_FAILED")
        answer = self.remote.ask("call", tool=expected.tool, order=expected.order, id=expected.call)
        assert answer["status"] == "failed"
        found = self.remote.ask("letters")
        self.letters.update({id: expected for id, (call, _) in found.items() if call == expected.call})
        assert expected in self.letters.values()

    @precondition(lambda self: self.letters)
    @rule(data=st.data(), mended=st.booleans())
    def replay(self, data: st.DataObject, mended: bool) -> None:
        id = data.draw(st.sampled_from(sorted(self.letters)))
        expected = self.letters[id]
        if expected.effects:
            with pytest.raises(ShopConflict):
                self.remote.ask("replay", letter=id)
            return
        if mended:
            self._sign("mended", expected.order)
        expected.effects = int(mended)
        assert self.remote.ask("replay", letter=id)["status"] == ("completed" if mended else "failed")

    # --- the process dies

    @precondition(lambda self: self.survives)
    @rule()
    def crash(self) -> None:
        self.remote.kill()
        self.remote = self._open()
        for expected in self._of("running"):
            expected.answer = None
            if not expected.repeatable:
                self._ended(expected, "needs_review", "UNKNOWN_OUTCOME")
            elif expected.submitted and expected.effects >= _MAX_ATTEMPTS:
                self._ended(expected, "failed", "POISONED")  # nobody tries again what killed so many
            elif expected.submitted:
                self._until_effect(expected)
            else:
                self._ended(expected, "failed", "INTERRUPTED")

    @precondition(lambda self: self.survives and not self._of("running"))
    @rule()
    def restart(self) -> None:
        self.remote.close()
        self.remote = self._open()

    # --- what holds at every moment

    def _effects(self, order: str) -> int:
        return len(self.ledger.of("effect", order=order))

    @invariant()
    def effects_are_those_of_the_model(self) -> None:
        seen = {expected.order: self._effects(expected.order) for expected in self.expected_calls}
        assert seen == {expected.order: expected.effects for expected in self.expected_calls}
        assert not self._effects("other")

    @invariant()
    def the_log_has_no_gap(self) -> None:
        if self.url is not None:
            assert raw_database.sequence_gaps(self.url) == []

    def teardown(self) -> None:
        try:
            error = sys.exc_info()[1]
            if error is None:
                self._end_well()
            elif isinstance(error, Exception):
                traceback.print_exc()  # the same steps may go well when they are tried again
        finally:
            self.remote.kill()
            self.ledger.close()
            self.folder.cleanup()

    def _end_well(self) -> None:
        """Nothing is left to be done; whoever comes later finds every call as it ended."""
        for expected in self._of("running"):
            self._sign("release", expected.order)
            self._ended(expected, "completed")
        if self.url is not None:
            self.remote.close()
            self.remote = self._open()
            for expected in self.expected_calls:
                if expected.status != "pending":
                    self._ended(expected, expected.status, expected.code)
            assert raw_database.sequence_gaps(self.url) == []
            assert all(len(ends) == 1 for ends in raw_database.ends_of_runs(self.url).values())
        self.effects_are_those_of_the_model()


def run_lifecycle(life: type[CallLifecycle], examples: int, steps: int) -> None:
    small = settings(max_examples=examples, stateful_step_count=steps, phases=_NO_SHRINKING)
    run_state_machine_as_test(life, settings=small)


@contextmanager
def lifecycle_on(database: NewDatabase, survives: bool) -> Iterator[type[CallLifecycle]]:
    """The machine for one kind of database."""
    with ForkServer("tests.harness.remote_shop", "tests.harness.preload_database") as fork_server:
        yield type(
            "Life",
            (CallLifecycle,),
            {"fork_server": fork_server, "database": staticmethod(database), "survives": survives},
        )
