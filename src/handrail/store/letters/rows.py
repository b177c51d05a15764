"""How a dead letter stands in a row: what anybody may see in the open, the exact call sealed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy.engine import Row

from handrail.core.tell.letters import DeadLetter, LetterStatus
from handrail.store.kept import call_data, call_of
from handrail.store.sealing import Seal
from handrail.store.text import column, dump, load


def to_row(letter: DeadLetter, seal: Seal) -> dict[str, Any]:
    exact = {"call": call_data(letter.call), "raw": letter.raw, "secrets": sorted(letter.secrets)}
    return {
        "tenant_id": letter.tenant,
        "id": letter.id,
        "call_id": column(letter.call.id or ""),
        "session_id": column(letter.session),
        "tool": column(letter.tool),
        "code": None if letter.code is None else column(letter.code),
        "error": dump(letter.error),
        "earlier_errors": dump(list(letter.earlier_errors)),
        "attempts": letter.attempts,
        "args": dump(letter.args),
        "sealed": seal.close(letter.tenant, exact, f"letter:{letter.id}"),
        "status": letter.status,
        "replay_of": letter.replay_of,
        "holder": None,
        "at": letter.at,
    }


def from_row(row: Row[Any], replays: Iterable[str], status: LetterStatus, seal: Seal) -> DeadLetter:
    kept = seal.open(row.tenant_id, row.sealed, f"letter:{row.id}")
    return DeadLetter(
        id=row.id,
        call=call_of(kept["call"]),
        tool=row.tool,
        args=load(row.args),
        error=load(row.error),
        code=row.code,
        attempts=row.attempts,
        at=row.at,
        replay_of=row.replay_of,
        replays=tuple(replays),
        status=status,
        earlier_errors=tuple(load(row.earlier_errors)),
        raw=kept["raw"],
        secrets=frozenset(kept["secrets"]),
    )
