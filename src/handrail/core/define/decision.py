"""Decision: what the guard says about a call, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Verdict = Literal["allow", "ask", "queue", "deny"]
STRICTNESS: dict[Verdict, int] = {"allow": 0, "ask": 1, "queue": 2, "deny": 3}

AnsweredBy = Literal["reviewer", "caller"]
"""Who may answer an ask: somebody with the right to review, or the calling person at once."""


@dataclass(frozen=True, slots=True)
class Step:
    """One layer or rule that was consulted, and what it said."""

    layer: str
    verdict: Verdict
    reason: str
    rule: str | None = None
    code: str | None = None
    by: AnsweredBy | None = None
    clearable: bool = False
    """Whether a standing approval may turn this ask into allow."""

    def __str__(self) -> str:
        rule = f" [{self.rule}]" if self.rule else ""
        return f"{self.layer}{rule}: {self.verdict}, {self.reason}"


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict, the layer and rule that decided, and every step that was consulted."""

    verdict: Verdict
    layer: str = ""
    rule: str | None = None
    code: str | None = None
    reason: str = ""
    by: AnsweredBy | None = None
    """Who may answer, when the verdict is ask."""
    trace: tuple[Step, ...] = ()

    @property
    def allowed(self) -> bool:
        return self.verdict == "allow"

    def explain(self) -> str:
        """The trace as text, the deciding step marked."""
        head = f"{self.verdict}: {self.reason}" if self.reason else self.verdict
        decider = self._decider()
        lines = [f"  {'>' if at == decider else ' '} {step}" for at, step in enumerate(self.trace)]
        return "\n".join((head, *lines))

    @property
    def decider(self) -> Step | None:
        """The step that decided: the first of the strictest, or the last word when all allow."""
        at = self._decider()
        return None if at is None else self.trace[at]

    def to_dict(self) -> dict[str, Any]:
        """The decision as JSON data, with its trace."""
        decider = self._decider()
        trace = [_fields(step) | {"decided": at == decider} for at, step in enumerate(self.trace)]
        return {"verdict": self.verdict} | _fields(self) | {"trace": trace}

    def _decider(self) -> int | None:
        own, steps = _fields(self), [_fields(step) for step in self.trace]
        if own not in steps:
            return None
        return len(steps) - 1 - steps[::-1].index(own) if self.verdict == "allow" else steps.index(own)

    def settled(self, step: Step) -> Decision:
        """This decision after a word that came later and ended the matter, such as a reviewer's."""
        trace = (*self.trace, step)
        return Decision(step.verdict, step.layer, step.rule, step.code, step.reason, step.by, trace)

    def __str__(self) -> str:
        return self.explain()


def _fields(source: Step | Decision) -> dict[str, Any]:
    names = ("layer", "verdict", "rule", "code", "reason", "by")
    return {name: getattr(source, name) for name in names}


def strictest(steps: tuple[Step, ...]) -> Decision:
    """Fold steps into one decision: deny > queue > ask > allow; among equals the first decides.

    An ask that a reviewer must answer is stricter than one the caller may confirm. When all allow, the last
    word is the most telling one.
    """
    strict = [step for step in steps if step.verdict != "allow"]
    best = max(strict, key=_rank) if strict else steps[-1]
    return Decision(best.verdict, best.layer, best.rule, best.code, best.reason, best.by, steps)


def _rank(step: Step) -> tuple[int, bool]:
    return STRICTNESS[step.verdict], step.by == "reviewer"
