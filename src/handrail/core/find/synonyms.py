"""Synonyms: other words for what many tools do. Words of a house's own belong into a tool's aliases."""

from __future__ import annotations

from handrail.core.find.words import stem

_GROUPS = """
create make new add insert
delete remove erase drop
get fetch read retrieve show view display load open
search find lookup query
list all every
update edit change modify
send deliver
cancel abort stop
start begin launch run execute
download fetch
upload attach
copy duplicate clone
move rename
summary summarize summarise digest
picture image photo
mail email
directory folder
document doc
configuration config settings
repository repo
statistics stats
appointment meeting event
bill invoice
client customer
staff employee
person people
money payment pay
compute calculate
evaluate score rate
"""


def _by_term() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in _GROUPS.split("\n"):
        group = frozenset(map(stem, line.split()))
        for term in group:
            found[term] = found.get(term, frozenset()) | (group - {term})
    return found


SYNONYMS = _by_term()
"""By term: the terms that may stand in its place."""
