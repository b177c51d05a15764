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

from handrail.core.run.perform import Work
from tests.harness import facts
from tests.harness.ledger import Ledger
from tests.harness.nursery import Nursery
from tests.harness.remote import Answer, Refused, Remote
from tests.harness.shop import LIFETIME

_AS_FOUND = (Phase.explicit, Phase.generate)
"""An example takes real time, so a failing one is shown as it was found."""

_TRIES = cast(int, next(one.default for one in fields(Work) if one.name == "attempts"))
"""How many processes may die over a job before it is given up."""
NewDatabase = Callable[[], str | None]


@dataclass(eq=False)
class Wish:
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


class Life(RuleBasedStateMachine):
    """Told what database to use, and how to start processes, by `lives_in`."""

    nursery: ClassVar[Nursery]
    database: ClassVar[NewDatabase]
    survives: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="life-")
        self.place = Path(self.folder.name)
        self.ledger = Ledger(self.place)
        self.url = type(self).database()
        self.now = 1_000_000.0
        self.remote = self._open()
        self.wishes: list[Wish] = []
        self.letters: dict[str, Wish] = {}
        self.numbers = count(1)

    def _open(self) -> Remote:
        return Remote(self.nursery, self.place, self.ledger.path, self.url, self.now)

    def _wish(self, tool: str, status: str, effects: int = 0, **more: object) -> Wish:
        number = next(self.numbers)
        wish = Wish(f"call_{number}", f"o{number}", tool, status, effects=effects, **more)  # type: ignore[arg-type]
        self.wishes.append(wish)
        return wish

    def _of(self, status: str) -> list[Wish]:
        return [wish for wish in self.wishes if wish.status == status]

    def _one(self, data: st.DataObject, wishes: list[Wish]) -> Wish:
        return data.draw(st.sampled_from(wishes))

    def _sign(self, kind: str, order: str) -> None:
        (self.place / f"{kind}-{order}").touch()

    def _ended(self, wish: Wish, status: str, code: str | None = None, effects: int = 0) -> None:
        """The model learns how a call ends; the shop must say the same."""
        wish.status, wish.code = status, code
        wish.effects += effects
        if wish.answer is not None:
            answer, wish.answer = wish.answer.result(30), None
        else:
            answer = self.remote.ask("wait" if wish.waited_for else "look", call=wish.call)
        assert (answer["status"], answer["code"]) == (status, code), wish

    # --- calls that run at once

    @rule(source=st.sampled_from(["api", "agent"]), tool=st.sampled_from(["shop.charge", "shop.print"]))
    def write(self, source: str, tool: str) -> None:
        wish = self._wish(tool, "completed", 1)
        answer = self.remote.ask("call", tool=tool, order=wish.order, id=wish.call, source=source)
        assert answer["status"] == "completed"

    @rule()
    def write_under_a_key(self) -> None:
        wish = self._wish("shop.charge", "completed", 1, key=f"k{len(self.wishes)}")
        answer = self.remote.ask("call", tool=wish.tool, order=wish.order, id=wish.call, key=wish.key)
        assert answer["status"] == "completed"

    @precondition(lambda self: any(wish.key for wish in self.wishes))
    @rule(data=st.data(), other=st.booleans())
    def write_again_under_the_key(self, data: st.DataObject, other: bool) -> None:
        first = self._one(data, [wish for wish in self.wishes if wish.key])
        order = "other" if other else first.order
        id = f"again_{next(self.numbers)}"
        answer = self.remote.ask("call", tool=first.tool, order=order, id=id, key=first.key)
        assert answer["status"] == ("refused" if other else "duplicate"), answer

    @rule()
    def submit(self) -> None:
        wish = self._wish("shop.charge", "queued", submitted=True)
        wish.call = self.remote.ask("submit", tool=wish.tool, order=wish.order)["call"]
        self._ended(wish, "completed", effects=1)

    # --- calls that take their time

    @precondition(lambda self: len(self._of("running")) < 5)  # fewer than run at once for one tenant
    @rule(tool=st.sampled_from(["shop.ship", "shop.sync"]), submitted=st.booleans())
    def begin(self, tool: str, submitted: bool) -> None:
        wish = self._wish(tool, "running", submitted=submitted)
        if submitted:
            wish.call = self.remote.ask("submit", tool=tool, order=wish.order)["call"]
        else:
            wish.answer = self.remote.begin("call", tool=tool, order=wish.order, id=wish.call)
        self._until_effect(wish)

    def _until_effect(self, wish: Wish) -> None:
        wish.effects += 1
        deadline = time.monotonic() + 30
        while self._effects(wish.order) < wish.effects:
            assert time.monotonic() < deadline, f"{wish} did not begin"
            time.sleep(0.002)

    @precondition(lambda self: self._of("running"))
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        wish = self._one(data, self._of("running"))
        self._sign("release", wish.order)
        self._ended(wish, "completed")

    @precondition(lambda self: self._of("running"))
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        wish = self._one(data, self._of("running"))
        assert self.remote.ask("cancel", call=wish.call) == {"stopped": True}
        self._ended(wish, "cancelled", "CANCELLED")

    # --- calls that wait for a person

    @rule()
    def ask(self) -> None:
        wish = self._wish("shop.refund", "pending")
        answer = self.remote.ask("call", tool=wish.tool, order=wish.order, id=wish.call)
        assert answer["status"] == "pending"
        wish.approval = answer["approval"]

    @precondition(lambda self: self._of("pending"))
    @rule(data=st.data(), how=st.sampled_from(["approve", "edit", "reject", "respond"]))
    def decide(self, data: st.DataObject, how: str) -> None:
        wish = self._one(data, self._of("pending"))
        if how == "edit":
            wish.order = f"edited-{wish.order}"
            self.remote.ask("approve", approval=wish.approval, order=wish.order)
        else:
            self.remote.ask(how, approval=wish.approval)
        if how == "reject":
            self._ended(wish, "refused", "REJECTED")
        else:
            self._ended(wish, "completed", effects=0 if how == "respond" else 1)

    @precondition(lambda self: self._of("pending"))
    @rule(data=st.data())
    def decide_at_once(self, data: st.DataObject) -> None:
        """Several answers at the same moment: one counts, the others get a conflict."""
        wish = self._one(data, self._of("pending"))
        answers = {
            how: self.remote.begin(how, approval=wish.approval) for how in ("approve", "reject", "respond")
        }
        won = [how for how, answer in answers.items() if answer.exception(40) is None]
        lost = [answer.exception() for answer in answers.values() if answer.exception() is not None]
        assert len(won) == 1 and all(isinstance(error, Refused) for error in lost), (won, lost)
        if won == ["reject"]:
            self._ended(wish, "refused", "REJECTED")
        else:
            self._ended(wish, "completed", effects=1 if won == ["approve"] else 0)

    @precondition(lambda self: any(wish.approval and wish.status != "pending" for wish in self.wishes))
    @rule(data=st.data(), how=st.sampled_from(["approve", "reject", "respond"]))
    def decide_too_late(self, data: st.DataObject, how: str) -> None:
        over = [wish for wish in self.wishes if wish.approval and wish.status != "pending"]
        with pytest.raises(Refused):
            self.remote.ask(how, approval=self._one(data, over).approval)

    @precondition(lambda self: self._of("pending"))
    @rule()
    def expire(self) -> None:
        self.now = self.remote.ask("turn", seconds=LIFETIME + 1)["now"]
        for wish in self._of("pending"):
            with pytest.raises(Refused):
                self.remote.ask("approve", approval=wish.approval)
            self._ended(wish, "refused", "APPROVAL_EXPIRED")

    # --- calls that fail

    @rule()
    def fail(self) -> None:
        wish = self._wish("shop.stamp", "failed", code="TOOL_FAILED")
        answer = self.remote.ask("call", tool=wish.tool, order=wish.order, id=wish.call)
        assert answer["status"] == "failed"
        found = self.remote.ask("letters")
        self.letters.update({id: wish for id, (call, _) in found.items() if call == wish.call})
        assert wish in self.letters.values()

    @precondition(lambda self: self.letters)
    @rule(data=st.data(), mended=st.booleans())
    def replay(self, data: st.DataObject, mended: bool) -> None:
        id = data.draw(st.sampled_from(sorted(self.letters)))
        wish = self.letters[id]
        if wish.effects:
            with pytest.raises(Refused):
                self.remote.ask("replay", letter=id)
            return
        if mended:
            self._sign("mended", wish.order)
        wish.effects = int(mended)
        assert self.remote.ask("replay", letter=id)["status"] == ("completed" if mended else "failed")

    # --- the process dies

    @precondition(lambda self: self.survives)
    @rule()
    def crash(self) -> None:
        self.remote.kill()
        self.remote = self._open()
        for wish in self._of("running"):
            wish.answer = None
            if not wish.repeatable:
                self._ended(wish, "needs_review", "UNKNOWN_OUTCOME")
            elif wish.submitted and wish.effects >= _TRIES:
                self._ended(wish, "failed", "POISONED")  # nobody tries again what killed so many
            elif wish.submitted:
                self._until_effect(wish)
            else:
                self._ended(wish, "failed", "INTERRUPTED")

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
        seen = {wish.order: self._effects(wish.order) for wish in self.wishes}
        assert seen == {wish.order: wish.effects for wish in self.wishes}
        assert not self._effects("other")

    @invariant()
    def the_log_has_no_gap(self) -> None:
        if self.url is not None:
            assert facts.gaps(self.url) == []

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
        for wish in self._of("running"):
            self._sign("release", wish.order)
            self._ended(wish, "completed")
        if self.url is not None:
            self.remote.close()
            self.remote = self._open()
            for wish in self.wishes:
                if wish.status != "pending":
                    self._ended(wish, wish.status, wish.code)
            assert facts.gaps(self.url) == []
            assert all(len(ends) == 1 for ends in facts.ends_of_runs(self.url).values())
        self.effects_are_those_of_the_model()


def live(life: type[Life], examples: int, steps: int) -> None:
    small = settings(max_examples=examples, stateful_step_count=steps, phases=_AS_FOUND)
    run_state_machine_as_test(life, settings=small)


@contextmanager
def lives_in(database: NewDatabase, survives: bool) -> Iterator[type[Life]]:
    """The machine for one kind of database."""
    with Nursery("tests.harness.remote", "tests.harness.preload") as nursery:
        yield type(
            "Life", (Life,), {"nursery": nursery, "database": staticmethod(database), "survives": survives}
        )
