"""The table: every kind of call, each with what it needs of a door. One table for all doors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal[
    "good", "coerced", "invalid", "unknown", "hidden", "forbidden", "gated", "decided", "duplicate", "slow",
    "failing", "cancelled", "huge", "unicode", "nested", "streaming", "stale", "ruled", "planned", "scoped",
    "masked",
]  # fmt: skip
Need = Literal["text", "key", "digest", "cancel", "decide", "unlisted", "bounds", "tenant", "json text"]


@dataclass(frozen=True, slots=True)
class Decide:
    """What somebody does about a call that waits: a reviewer, or whoever made it."""

    how: Literal["approve", "edit", "reject", "respond"]
    what: Any = None
    by: Literal["reviewer", "caller"] = "reviewer"


@dataclass(frozen=True, slots=True)
class Case:
    """One call, and what happens around it."""

    kind: Kind
    tool: str
    args: Any = None
    who: str = "ops"
    key: str | None = None
    again: Mapping[str, Any] | None = None
    """Under the same key once more, with these arguments; the answer is the second one's."""
    digest: str | None = None
    cancel: bool = False
    decide: Decide | None = None

    @property
    def name(self) -> str:
        more = [f"{label}={told!r}" for label, told in self._more() if told]
        return " ".join([f"{self.kind}: {self.who} {self.tool} {self.args!r}", *more])

    def _more(self) -> list[tuple[str, Any]]:
        decide = self.decide and (self.decide.how, self.decide.what)
        return [("key", self.key), ("again", self.again), ("digest", self.digest), ("decide", decide)]

    @property
    def needs(self) -> frozenset[Need]:
        """What a door must be able to carry for it."""
        found: dict[Need, bool] = {
            "text": isinstance(self.args, str),
            "json text": isinstance(self.args, str) and self.kind == "coerced",
            "key": self.key is not None,
            "digest": self.digest is not None,
            "cancel": self.cancel,
            "decide": self.decide is not None,
            "bounds": self.who in ("scoped", "nothing", "reader"),
            "tenant": self.who == "foreign",
        }
        return frozenset(need for need, holds in found.items() if holds)


BOLT = {"item": "bolt", "pieces": 5}
TYPED: dict[str, Any] = {
    "number": "42", "ratio": "0.25", "flag": "yes", "colour": "RED", "tags": "[1, 2]",
    "day": "2026-11-15", "place": '{"street": "Elm", "number": "7"}',
}  # fmt: skip
ODD = "Grüße 漢字 🎈 \u202eevil\u202c \x00 \"quotes\" \\ </script> 'single' {brace} %s"

CASES: tuple[Case, ...] = (
    Case("good", "stock.count", {"item": "bolt"}),
    Case("good", "stock.count", {"item": "bolt", "include_reserved": True, "limit": 10}),
    Case("good", "count_stock", {"thing": "bolt"}),
    Case("good", "stock.order", BOLT),
    Case("good", "stock.till", {}),
    Case("good", "stock.purge", {"dry_run": True}),
    Case("good", "slow.sync", {"text": "loud"}),
    Case("good", "out.none", {}),
    Case("good", "out.text", {}),
    Case("good", "out.output", {}),
    Case("good", "out.picture", {}),
    Case("good", "out.odd", {}),
    Case("good", "words.typed", {"number": 1, "place": {"street": "Elm", "number": 7}, "day": "2026-01-31"}),
    Case("good", "stock.count", {"item": "nut"}, who="narrow"),
    Case("coerced", "stock.count", {"item": "bolt", "limit": "3"}),
    Case("coerced", "stock.count", {"item": "bolt", "include_reserved": "true"}),
    Case("invalid", "stock.count", {"thing": "bolt"}),
    Case("coerced", "stock.order", {"item": "bolt", "pieces": "5", "colour": "Green"}),
    Case("coerced", "words.typed", TYPED),
    Case("coerced", "words.typed", {"number": 3.0, "tags": 4}),
    Case("coerced", "words.echo", {"text": "a", "place": '{"deep": {"er": [1, {"x": null}]}}'}),
    Case("coerced", "stock.count", '{"item": "bolt", "limit": "3"}'),
    Case("invalid", "stock.count", {}),
    Case("invalid", "stock.count", {"item": 5}),
    Case("invalid", "stock.count", {"item": "bolt", "limit": "many"}),
    Case("invalid", "stock.count", {"item": "bolt", "limt": 3}),
    Case("invalid", "stock.order", {"item": "bolt", "pieces": 5, "colour": "blue"}),
    Case("invalid", "words.typed", {"number": 1, "place": {"street": "Elm", "number": 0}}),
    Case("invalid", "words.typed", {"number": None, "ratio": [], "flag": "perhaps", "tags": ["x"]}),
    Case("invalid", "stock.count", '{"item": "bolt"'),
    Case("invalid", "stock.count", "[1, 2]"),
    Case("unknown", "stock.missing", {"item": "bolt"}),
    Case("unknown", "stock.cuont", {"item": "bolt"}),
    Case("unknown", "no such tool", {}),
    Case("hidden", "stock.elsewhere", {}),
    Case("hidden", "words.echo", {"text": "a"}, who="narrow"),
    Case("hidden", "stock.order", BOLT, who="barred"),
    Case("good", "stock.elsewhere", {}, who="foreign"),
    Case("forbidden", "stock.vault", {}),
    Case("forbidden", "stock.upload", {}, who="offline"),
    Case("forbidden", "stock.till", {}, who="foreign"),
    Case("gated", "stock.drop", {"item": "bolt"}),
    Case("gated", "stock.drop", {"item": 5}),
    Case("gated", "stock.audit", {}),
    Case("gated", "stock.purge", {"dry_run": "no"}),
    Case("gated", "stock.order", {"item": "bolt", "pieces": "7"}, who="careful"),
    Case("gated", "stock.order", BOLT, who="guarded"),
    Case("decided", "stock.drop", {"item": "cog"}, decide=Decide("reject", "keep it")),
    Case("decided", "stock.order", BOLT, who="careful", decide=Decide("approve")),
    Case("decided", "stock.order", {**BOLT, "colour": "GREEN"}, who="careful",
         decide=Decide("edit", {"item": "bolt", "pieces": 2})),
    Case("decided", "stock.drop", {"item": "nut"}, decide=Decide("reject")),
    Case("decided", "stock.audit", {"where": "shelf"}, decide=Decide("respond", "counted by hand: 41")),
    Case("decided", "fail.write", {"item": "vase"}, who="careful", decide=Decide("approve")),
    Case("duplicate", "stock.order", BOLT, key="same", again=BOLT),
    Case("duplicate", "stock.order", BOLT, key="other", again={"item": "bolt", "pieces": 6}),
    Case("duplicate", "fail.write", {"item": "cup"}, key="failed", again={"item": "cup"}),
    Case("duplicate", "stock.drop", {"item": "bolt"}, key="waits", again={"item": "bolt"}),
    Case("slow", "slow.nap", {}),
    Case("slow", "slow.late", {}),
    Case("failing", "fail.raise", {}),
    Case("failing", "fail.code", {}),
    Case("failing", "fail.dict", {}),
    Case("failing", "fail.partly", {}),
    Case("failing", "fail.shape", {}),
    Case("failing", "fail.write", {"item": "plate"}),
    Case("failing", "fail.twice", {"name": "x"}),
    Case("failing", "words.token", {}),
    Case("cancelled", "slow.wait", {}, cancel=True),
    Case("huge", "big.text", {}),
    Case("huge", "big.list", {}),
    Case("huge", "big.fail", {}),
    Case("huge", "words.echo", {"text": "y" * 40_000}),
    Case("unicode", "words.echo", {"text": ODD}),
    Case("unicode", "words.echo", {"text": "x", "place": {"ключ": "значение", "": "empty", "a.b": 1}}),
    Case("unicode", "stock.count", {"item": "ß", "größe": 1}),
    Case("nested", "nest.count", {"item": "bolt"}),
    Case("nested", "nest.vault", {}),
    Case("nested", "nest.order", {}, who="careful"),
    Case("streaming", "slow.steps", {}),
    Case("stale", "stock.count", {"item": "bolt"}, digest="0" * 64),
    Case("ruled", "words.echo", {"text": "gold"}, who="ruled"),
    Case("ruled", "words.echo", {"text": "silver"}, who="ruled"),
    Case("ruled", "words.echo", {"text": "tin"}, who="ruled"),
    Case("ruled", "words.echo", {"text": "copper"}, who="ruled"),
    Case("planned", "stock.order", {"item": "bolt", "pieces": "2"}, who="planner"),
    Case("planned", "stock.count", {"item": "bolt"}, who="planner"),
    Case("planned", "stock.drop", {"item": "bolt"}, who="planner"),
    Case("planned", "stock.count", {"item": "bolt"}, who="dreamer"),
    Case("scoped", "stock.count", {"item": "bolt"}, who="scoped"),
    Case("scoped", "words.echo", {"text": "a"}, who="scoped"),
    Case("scoped", "stock.count", {"item": "bolt"}, who="nothing"),
    Case("scoped", "stock.count", {"item": "bolt"}, who="reader"),
    Case("scoped", "stock.order", BOLT, who="reader"),
    Case("scoped", "stock.drop", {"item": "bolt"}, who="reader"),
    Case("scoped", "stock.purge", {"dry_run": True}, who="reader"),
    Case("masked", "words.login", {"pin": "1234"}),
    Case("masked", "words.login", {"pin": 1234}),
)  # fmt: skip


def one_of_each(cases: tuple[Case, ...] = CASES) -> tuple[Case, ...]:
    """The first case of each kind: for doors that start a process for a call, or for a caller."""
    seen: dict[Kind, Case] = {}
    for case in cases:
        seen.setdefault(case.kind, case)
    return tuple(seen.values())
