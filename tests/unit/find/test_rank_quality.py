"""How well the words of people and agents find the tools of a company."""

import pytest

from handrail.core.find.index import Index, IndexView
from handrail.core.find.rank import rank
from tests.unit.find.search_catalogue import catalogue, labelled

MISSED = {"call off the meeting"}
"""Not among the first three: nothing says that calling off is cancelling."""


@pytest.mark.req("BY-17")
def test_the_tool_that_is_meant_is_among_the_first() -> None:
    index = Index(catalogue())
    shelf = IndexView(index, (1 << len(index.tools)) - 1)
    places: dict[str, int | None] = {}
    for query, meant in labelled():
        found = [one.tool.id for one in rank(query, [shelf], 10)]
        places[query] = next((at for at, tool_id in enumerate(found, 1) if tool_id in meant), None)
    hits = [at for at in places.values() if at is not None and at <= 3]
    reciprocal = sum(1 / at for at in places.values() if at is not None) / len(places)
    assert {query for query, at in places.items() if at is None or at > 3} <= MISSED
    assert len(hits) / len(places) >= 0.95
    assert reciprocal >= 0.9, {query: at for query, at in places.items() if at != 1}


def test_the_catalogue_is_large_enough_to_get_lost_in() -> None:
    assert len(catalogue()) >= 60 and len(labelled()) >= 40
    assert all(meant <= {tool.id for tool in catalogue()} for _, meant in labelled())
