"""Dead letters: calls whose body failed, kept for study and replay. The port, and its twin in memory."""

from __future__ import annotations

import builtins
import math
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypedDict, Unpack

from handrail.core.define.call import BoundCall
from handrail.core.define.principal import Principal
from handrail.core.errors import UsageError

DeadLetterStatus = Literal["open", "replaying", "replayed", "unknown"]
"""unknown: its effect may have happened, or still happen, so it is never replayed."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One call that failed: what was wanted, why it failed, and what came of replays."""

    id: str
    call: BoundCall
    tool: str
    args: Mapping[str, Any]
    """The arguments, secrets masked."""
    error: str
    code: str | None
    attempts: int
    at: float
    replay_of: str | None = None
    """The letter whose replay this failure is."""
    replays: tuple[str, ...] = ()
    """The call ids of replays, in order."""
    status: DeadLetterStatus = "open"
    earlier_errors: tuple[str, ...] = ()
    """Why the attempts before the last one failed."""
    raw: Any = field(default=None, repr=False)
    """The exact arguments, for the replay. A store keeps them encrypted."""
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    """What the body was told in confidence: masked in every record of a replay."""

    @property
    def principal(self) -> Principal:
        return self.call.principal

    @property
    def cursor(self) -> str:
        """The place of this letter in a list, to go on from there."""
        return f"{self.at!r}:{self.id}"

    @property
    def tenant(self) -> str:
        return self.principal.tenant

    @property
    def user(self) -> str | None:
        return self.principal.user

    @property
    def agent(self) -> str | None:
        return self.principal.agent

    @property
    def session(self) -> str:
        return self.call.log_session

    @property
    def key(self) -> str:
        """The idempotency key that outside systems know this call by, and will know its replays by."""
        return self.call.idempotency_key or self.call.id

    def to_dict(self) -> dict[str, Any]:
        """The letter as JSON data, for whoever may see it."""
        return {
            "id": self.id,
            "status": self.status,
            "tool": self.tool,
            "args": dict(self.args),
            "error": self.error,
            "code": self.code,
            "attempts": self.attempts,
            "earlier_errors": list(self.earlier_errors),
            "at": self.at,
            "tenant": self.tenant,
            "session": self.session,
            "user": self.user,
            "agent": self.agent,
            "source": self.call.source,
            "call_id": self.call.id,
            "replay_of": self.replay_of,
            "replays": list(self.replays),
        }


def parse_cursor(cursor: str) -> tuple[float, str]:
    """When the letter of a cursor was written, and its id."""
    at, separator, id = cursor.partition(":")
    try:
        if separator:
            return float(at), id
    except ValueError:
        pass
    raise UsageError("This is not a place in a list of dead letters. Begin with the newest.")


class DeadLetterFilters(TypedDict, total=False):
    """By what letters are chosen; times are from `since` to before `before`."""

    tool: str | None
    session: str | None
    code: str | None
    status: DeadLetterStatus | None
    since: float | None
    before: float | None


class DeadLetters(Protocol):
    """Where dead letters are kept. Each belongs to a tenant, and is found under no other.

    What is not awaited takes effect in the order in which it was said.
    """

    def add(self, letter: DeadLetter, /) -> None:
        """Keep a letter. If its call replays another letter, that one becomes its `replay_of`."""
        ...

    def doubt(self, call_id: str, tenant: str, /) -> None:
        """The effect of a replay may have happened: the letters behind it become `unknown`."""
        ...

    async def get(self, letter_id: str, tenant: str, /) -> DeadLetter | None: ...

    async def list(self, tenant: str, **filters: Unpack[DeadLetterFilters]) -> builtins.list[DeadLetter]:
        """The tenant's letters that fit every given filter, newest last."""
        ...

    async def page(self, tenant: str, /, *, after: str | None, limit: int) -> builtins.list[DeadLetter]:
        """The tenant's letters, the newest first, beginning after a cursor."""
        ...

    async def take(self, letter_id: str, tenant: str, call_id: str, /) -> DeadLetter | None:
        """An open letter becomes `replaying`, and the call that replays it is noted: once.

        None when it is not open, or not there. What a process that died had taken, a store opens again.
        """
        ...

    async def ended(self, call_id: str, tenant: str, ok: bool, /) -> None:
        """A call is over, and may have replayed a letter.

        After a success that letter is `replayed`, with those it came from and all that failed replays of any
        of them left. Otherwise it is open again. `replayed` and `unknown` stay.
        """
        ...

    async def remove(self, letter_ids: Iterable[str], tenant: str, /) -> int:
        """Forget letters; how many there were."""
        ...


class MemoryDeadLetters:
    """The dead letters of a process without a database: the newest of each tenant.

    Of too many tenants, the one whose newest letter is oldest is forgotten.
    """

    def __init__(self, keep: int = 1_000, tenants: int = 1_000) -> None:
        self._keep = keep
        self._tenants = tenants
        self._letters: OrderedDict[str, dict[str, DeadLetter]] = OrderedDict()
        """Each tenant's letters by id; the tenant with the newest letter last."""
        self._replays: dict[str, str] = {}
        """Letter ids by the calls that replay them."""
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return sum(map(len, self._letters.values()))

    def add(self, letter: DeadLetter, /) -> None:
        with self._lock:
            if (replayed := self._behind(letter.call.id, letter.tenant)) is not None:
                letter = replace(letter, replay_of=replayed.id)
            own = self._letters.setdefault(letter.tenant, {})
            own[letter.id] = letter
            self._letters.move_to_end(letter.tenant)
            while len(own) > self._keep:
                self._forget(next(iter(own)), letter.tenant)
            while len(self._letters) > self._tenants:
                tenant = next(iter(self._letters))
                for letter_id in list(self._letters[tenant]):
                    self._forget(letter_id, tenant)

    def doubt(self, call_id: str, tenant: str, /) -> None:
        with self._lock:
            if (letter := self._behind(call_id, tenant)) is not None:
                self._settle_chain(letter, "unknown")

    async def get(self, letter_id: str, tenant: str, /) -> DeadLetter | None:
        return self._find(letter_id, tenant)

    async def list(self, tenant: str, **filters: Unpack[DeadLetterFilters]) -> builtins.list[DeadLetter]:
        with self._lock:
            letters = list(self._letters.get(tenant, {}).values())
        values: dict[str, Any] = {name: value for name, value in filters.items() if value is not None}
        since, before = values.pop("since", -math.inf), values.pop("before", math.inf)
        return [
            letter
            for letter in letters
            if since <= letter.at < before
            and all(getattr(letter, name) == value for name, value in values.items())
        ]

    async def page(self, tenant: str, /, *, after: str | None, limit: int) -> builtins.list[DeadLetter]:
        place = None if after is None else parse_cursor(after)
        newest_first = sorted(
            await self.list(tenant), key=lambda letter: (letter.at, letter.id), reverse=True
        )
        return [letter for letter in newest_first if place is None or (letter.at, letter.id) < place][:limit]

    async def take(self, letter_id: str, tenant: str, call_id: str, /) -> DeadLetter | None:
        with self._lock:
            letter = self._find(letter_id, tenant)
            if letter is None or letter.status != "open":
                return None
            self._replays[call_id] = letter_id
            taken = replace(letter, status="replaying", replays=(*letter.replays, call_id))
            self._letters[tenant][letter_id] = taken
            return taken

    async def ended(self, call_id: str, tenant: str, ok: bool, /) -> None:
        with self._lock:
            if (letter := self._behind(call_id, tenant)) is None:
                return
            if ok:
                self._settle_chain(letter, "replayed")
            elif letter.replays[-1] == call_id:
                self._settle(letter, "open")

    async def remove(self, letter_ids: Iterable[str], tenant: str, /) -> int:
        with self._lock:
            existing = [letter_id for letter_id in letter_ids if self._find(letter_id, tenant) is not None]
            for letter_id in existing:
                self._forget(letter_id, tenant)
        return len(existing)

    def _find(self, letter_id: str, tenant: str) -> DeadLetter | None:
        return self._letters.get(tenant, {}).get(letter_id)

    def _behind(self, call_id: str, tenant: str) -> DeadLetter | None:
        """The letter that a call replays."""
        letter_id = self._replays.get(call_id)
        return None if letter_id is None else self._find(letter_id, tenant)

    def _settle(self, letter: DeadLetter, status: DeadLetterStatus) -> None:
        if letter.status in ("open", "replaying"):
            self._letters[letter.tenant][letter.id] = replace(letter, status=status)

    def _settle_chain(self, letter: DeadLetter, status: DeadLetterStatus) -> None:
        first, above = letter, letter.replay_of
        while above is not None and (before := self._find(above, letter.tenant)) is not None:
            first, above = before, before.replay_of
        chain = {first.id, letter.id}
        for other in list(self._letters[letter.tenant].values()):  # newest last
            if other.id in chain or other.replay_of in chain:
                chain.add(other.id)
                self._settle(other, status)

    def _forget(self, letter_id: str, tenant: str) -> None:
        own = self._letters[tenant]
        for call_id in own.pop(letter_id).replays:
            self._replays.pop(call_id, None)
        if not own:
            del self._letters[tenant]
