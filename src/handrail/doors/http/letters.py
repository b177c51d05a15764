"""/api/dead-letters: calls whose body failed, to be studied, replayed and purged."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from handrail.core.define.principal import Principal
from handrail.core.tell.letters import DeadLetter, LetterStatus
from handrail.doors.http import shapes
from handrail.doors.http.calling import WAITING
from handrail.doors.http.ending import answer
from handrail.doors.http.paging import After, Limit, Name, Time, page_of
from handrail.doors.http.refusing import no_such
from handrail.doors.http.routing import TheHandrail, answers, need, router
from handrail.doors.http.telling import nothing, ready
from handrail.doors.http.whose import plausible
from handrail.engine import Handrail

routes = router("dead letters")
Seen = Annotated[Principal, need("dead_letters.read")]
Purging = Annotated[Principal, need("dead_letters.purge")]


@routes.get(
    "/dead-letters",
    summary="List calls that failed, the newest first",
    responses=answers(ok=shapes.LetterPage),
)
async def list_dead_letters(
    who: Seen,
    hr: TheHandrail,
    tool: Name = None,
    session: Name = None,
    code: Name = None,
    status: LetterStatus | None = None,
    since: Time = None,
    before: Time = None,
    after: After = None,
    limit: Limit = 50,
) -> Response:
    """Those of tools that you may see."""
    found = await hr.dead_letters.list(who, tool, session, code, status=status, since=since, before=before)
    page, following = page_of(found[::-1], after, limit, lambda one: one.id)
    return ready({"dead_letters": [one.to_dict() for one in page], "next": following})


@routes.get("/dead-letters/{letter_id}", summary="Read one", responses=answers(ok=shapes.LetterLine))
async def read_dead_letter(who: Seen, hr: TheHandrail, letter_id: str) -> Response:
    return ready((await _letter(hr, letter_id, who)).to_dict())


@routes.post(
    "/dead-letters/{letter_id}/replay",
    summary="Make the call once more",
    responses=answers(409, 499, ok=shapes.Told, says="It was replayed; `success` says how it ended.")
    | {202: WAITING},
)
async def replay_dead_letter(
    who: Annotated[Principal, need("dead_letters.replay")], hr: TheHandrail, letter_id: str
) -> Response:
    """As whoever made it, under the same key, through the whole guard."""
    await _letter(hr, letter_id, who)
    return answer(await hr.dead_letters.replay(letter_id, by=who))


@routes.delete(
    "/dead-letters/{letter_id}", summary="Forget one", status_code=204, responses=answers(status=204)
)
async def purge_dead_letter(who: Purging, hr: TheHandrail, letter_id: str) -> Response:
    await _letter(hr, letter_id, who)
    await hr.dead_letters.purge(letter_id, by=who)
    return nothing()


@routes.delete("/dead-letters", summary="Forget all that fit", responses=answers(ok=shapes.Purged))
async def purge_dead_letters(
    who: Purging,
    hr: TheHandrail,
    before: Annotated[float, Query(allow_inf_nan=False, description="Only older ones: seconds since 1970.")],
    tool: Name = None,
    session: Name = None,
) -> Response:
    purged = await hr.dead_letters.purge(by=who, tool=tool, session=session, before=before)
    return ready({"purged": purged})


async def _letter(hr: Handrail, letter_id: str, who: Principal) -> DeadLetter:
    found = await hr.dead_letters.get(letter_id, who) if plausible(letter_id) else None
    if found is None:
        raise no_such("dead letter")
    return found
