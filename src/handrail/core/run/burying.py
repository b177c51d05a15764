"""burying: a body that failed leaves a dead letter."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from pydantic_core import to_jsonable_python

from handrail.core.define.jsonvalue import own_copy
from handrail.core.define.result import Result
from handrail.core.ids import new_id
from handrail.core.tell.letters import DeadLetter

if TYPE_CHECKING:
    from handrail.core.run.tale import Tale

_log = logging.getLogger("handrail.run")
_ANSWERS = frozenset({"LLM_ASSIST_REQUIRED"})
"""Codes that hand the work back to whoever asked: nothing broke, and a replay would hear the same."""


def bury(tale: Tale, result: Result, shown: Any, now: float) -> None:
    """A body that failed leaves a dead letter. A port that does not take it disturbs nobody."""
    if result.code in _ANSWERS:
        return
    letters, call = tale.house.letters, tale.call
    assert call.id is not None and call.principal is not None
    try:
        letters.add(
            DeadLetter(
                id=new_id("letter"),
                call=call,
                tool=tale.tool_id,
                args=to_jsonable_python(shown, inf_nan_mode="null", fallback=str),
                attempts=tale.attempt,
                at=now,
                status="unknown" if tale.doubtful else "open",
                raw=own_copy(tale.raw),
                secrets=frozenset(tale.secrets or ()),
                error=result.error or "Unknown error",
                code=result.code,
                earlier_errors=tuple(result.metadata.get("earlier_errors", ())),
            )
        )
    except Exception:
        _log.exception("the dead letter of call %s could not be kept", call.id)


def close_letters(tale: Tale) -> None:
    """What a doubtful replay came from is not replayed again."""
    call = tale.call
    if call.parent is None or call.depth:
        return
    assert call.id is not None and call.principal is not None
    try:
        tale.house.letters.doubt(call.id, call.principal.tenant)
    except Exception:
        _log.exception("the dead letters behind call %s could not be closed", call.id)
