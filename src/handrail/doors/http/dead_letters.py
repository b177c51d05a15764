"""/api/dead-letters: calls whose body failed, to be studied, replayed and purged."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from handrail.core.define.principal import Principal
from handrail.core.tell.dead_letters import DeadLetter, DeadLetterStatus
from handrail.doors.http import schemas
from handrail.doors.http.calls import ACCEPTED_RESPONSE
from handrail.doors.http.errors import not_found
from handrail.doors.http.outcomes import outcome_response
from handrail.doors.http.parameters import After, Limit, Name, Time, page_after
from handrail.doors.http.router import Router, TheHandrail, need
from handrail.engine.handrail import Handrail
from handrail.platform.access import is_plausible_id
from handrail.platform.responses import json_response, no_content

routes = Router("dead letters")
DeadLetterReader = Annotated[Principal, need("dead_letters.read")]
DeadLetterPurger = Annotated[Principal, need("dead_letters.purge")]


@routes.get("/dead-letters", "List calls that failed, the newest first", ok=schemas.DeadLetterPage)
async def list_dead_letters(
    who: DeadLetterReader,
    hr: TheHandrail,
    tool: Name = None,
    session: Name = None,
    code: Name = None,
    status: DeadLetterStatus | None = None,
    since: Time = None,
    before: Time = None,
    after: After = None,
    limit: Limit = 50,
) -> Response:
    """Those of tools that you may see."""
    letters = await hr.dead_letters.list(who, tool, session, code, status=status, since=since, before=before)
    page, following = page_after(letters[::-1], after, limit, lambda letter: letter.id)
    return json_response({"dead_letters": [letter.to_dict() for letter in page], "next": following})


@routes.get("/dead-letters/{letter_id}", "Read one", ok=schemas.DeadLetterDetail)
async def read_dead_letter(who: DeadLetterReader, hr: TheHandrail, letter_id: str) -> Response:
    return json_response((await _dead_letter(hr, letter_id, who)).to_dict())


@routes.post(
    "/dead-letters/{letter_id}/replay",
    "Make the call once more",
    409,
    499,
    ok=schemas.CallOutcome,
    says="It was replayed; `success` says how it ended.",
    more={202: ACCEPTED_RESPONSE},
)
async def replay_dead_letter(
    who: Annotated[Principal, need("dead_letters.replay")], hr: TheHandrail, letter_id: str
) -> Response:
    """As whoever made it, under the same key, through the whole guard."""
    await _dead_letter(hr, letter_id, who)
    return outcome_response(await hr.dead_letters.replay(letter_id, by=who))


@routes.delete("/dead-letters/{letter_id}", "Forget one", status=204)
async def purge_dead_letter(who: DeadLetterPurger, hr: TheHandrail, letter_id: str) -> Response:
    await _dead_letter(hr, letter_id, who)
    await hr.dead_letters.purge(letter_id, by=who)
    return no_content()


@routes.delete("/dead-letters", "Forget all that fit", ok=schemas.PurgeResult)
async def purge_dead_letters(
    who: DeadLetterPurger,
    hr: TheHandrail,
    before: Annotated[float, Query(allow_inf_nan=False, description="Only older ones: seconds since 1970.")],
    tool: Name = None,
    session: Name = None,
) -> Response:
    purged = await hr.dead_letters.purge(by=who, tool=tool, session=session, before=before)
    return json_response({"purged": purged})


async def _dead_letter(hr: Handrail, letter_id: str, who: Principal) -> DeadLetter:
    letters = await hr.dead_letters.get(letter_id, who) if is_plausible_id(letter_id) else None
    if letters is None:
        raise not_found("dead letter")
    return letters
