"""What foreign tools are called here."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handrail.bridges.mcp.tool_names import has_prefix, local_names
from handrail.core.define.names import is_name
from handrail.ext.tools import slug_of, wire_name

REMOTE = st.sets(
    st.text(min_size=1, max_size=130) | st.from_regex(r"[ab][ab._\-/]{0,6}", fullmatch=True), max_size=12
)


@pytest.mark.req("MC-07")
@given(REMOTE)
@example({"a.b", "a__b", "a-b", "aB", "a_b"})
@example({"a.b", "a__b", "a_b_5f5d9a3c"})
@example({"x" * 128, "x" * 129})
@example({"_"})
def test_each_tool_has_a_name_of_its_own_in_every_spelling(remote: set[str]) -> None:
    names = local_names("far", remote)
    assert names.keys() == remote
    for spell in (str, wire_name, slug_of):
        spelled = [spell(name) for name in names.values()]
        assert len(set(spelled)) == len(remote), spelled
    for name in names.values():
        assert is_name(name) and len(wire_name(name)) <= 64
        assert all(has_prefix("far", spell(name)) for spell in (str, wire_name, slug_of))


@pytest.mark.req("MC-07", "BY-09")
@given(REMOTE, st.text(min_size=1, max_size=20))
def test_a_tool_that_a_server_adds_takes_no_name_that_another_has(remote: set[str], added: str) -> None:
    before, after = local_names("far", remote), local_names("far", remote | {added})
    taken = {name: remote_name for remote_name, name in before.items() if remote_name != added}
    assert taken.get(after[added], added) == added


def test_names_that_are_names_stay_as_they_are() -> None:
    assert local_names("far", ["create_issue", "repo.search"]) == {
        "create_issue": "far.create_issue",
        "repo.search": "far.repo.search",
    }


def test_names_of_other_servers_are_not_looked_for() -> None:
    assert not has_prefix("far", "farther.echo") and not has_prefix("far", "echo")
