"""What rows make of tools: against a table written from the requirements, and against a plain model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Tool, define
from handrail.core.define.tool import Origin
from handrail.core.find.registry import Registry
from handrail.core.find.visibility import (
    DEFAULT_TENANT_ID,
    TenantView,
    ToolRow,
    ToolRows,
    apply_override,
    is_shown,
)
from handrail.ext.tools import slug_of

TABLE = """
origin  tenant    default   shown  on a published page
system  none      none      no     no
system  none      enabled   yes    yes
system  none      disabled  no     yes
system  enabled   none      yes    yes
system  enabled   enabled   yes    yes
system  enabled   disabled  no     yes
system  disabled  none      no     yes
system  disabled  enabled   no     yes
system  disabled  disabled  no     yes
custom  none      none      yes    yes
custom  none      enabled   yes    yes
custom  none      disabled  no     yes
custom  enabled   none      yes    yes
custom  enabled   enabled   yes    yes
custom  enabled   disabled  no     yes
custom  disabled  none      no     yes
custom  disabled  enabled   no     yes
custom  disabled  disabled  no     yes
"""
ROWS = [line.split() for line in TABLE.strip().splitlines()[1:]]
STATE = {"none": None, "enabled": True, "disabled": False}


def made(name: str, **given: Any) -> Tool:
    return define(name, {"description": "It does.", "level": "read", "execute": lambda: name, **given})


@pytest.mark.req("MT-05", "MT-06", "MT-07", "MT-12", "MT-14")
@pytest.mark.parametrize(("origin", "mine", "common", "shown", "embedded"), ROWS)
def test_every_line_of_the_table_holds(
    origin: Origin, mine: str, common: str, shown: str, embedded: str
) -> None:
    assert is_shown(origin, STATE[mine], STATE[common]) is (shown == "yes")
    assert is_shown(origin, STATE[mine], STATE[common], embed=True) is (embedded == "yes")


def test_the_table_is_whole() -> None:
    assert len({tuple(row[:3]) for row in ROWS}) == 2 * 3 * 3 == len(ROWS)


@pytest.mark.req("MT-06")
@pytest.mark.parametrize("origin", ["bundle", "mcp", "tenant_custom"])
def test_every_origin_but_system_is_there_until_it_is_disabled(origin: Origin) -> None:
    assert is_shown(origin, None, None)
    assert not is_shown(origin, False, None)


NAMES = [f"area{number}.doThing{number}" for number in range(6)]
slugs = st.sampled_from([slug_of(name) for name in NAMES])
tenants = st.sampled_from(["acme", "other"])
tools = st.lists(
    st.builds(
        lambda name, origin, only: made(name, origin=origin, tenants=only),
        st.sampled_from(NAMES),
        st.sampled_from(["system", "custom", "bundle"]),
        st.lists(tenants, max_size=1),
    ),
    unique_by=lambda tool: tool.id,
    max_size=6,
)
overrides = st.builds(
    ToolRow,
    st.sampled_from(["acme", "other", DEFAULT_TENANT_ID]),
    slugs,
    st.just("system_override"),
    st.booleans(),
    st.sampled_from([None, "auto", "always_ask"]),
    st.sampled_from([None, "Another name"]),
)
rows = st.lists(overrides, max_size=12, unique_by=lambda row: (row.tenant, row.slug))


def expected(tool: Tool, there: list[ToolRow], tenant: str, embed: bool) -> bool:
    """The requirements as one reads them, without regard for speed."""
    if tool.tenants and tenant not in tool.tenants:
        return False
    speaking = [row for row in there if row.slug == tool.slug and row.tenant in (tenant, DEFAULT_TENANT_ID)]
    if not embed and any(not row.enabled for row in speaking):
        return False
    if tool.origin == "system":
        return any(row.enabled or embed for row in speaking)
    return True


@pytest.mark.req("MT-02", "MT-03", "MT-05", "MT-06", "MT-07", "MT-10", "MT-12", "MT-14", "AT-12")
@given(tools, rows, tenants, st.booleans(), st.sampled_from([None, *NAMES]))
def test_a_view_shows_what_the_requirements_say(
    given_tools: list[Tool], there: list[ToolRow], tenant: str, embed: bool, after: str | None
) -> None:
    registry = Registry(given_tools)
    mine, common = (
        ToolRows([row for row in there if row.tenant == scope]) for scope in (tenant, DEFAULT_TENANT_ID)
    )
    view = TenantView(tenant, registry.snapshot(), mine, common, embed)
    visible = sorted(tool.id for tool in given_tools if expected(tool, there, tenant, embed))
    assert [tool.id for tool in view.tools()] == visible
    assert [tool.id for tool in view.tools(after)] == [name for name in visible if name > (after or "")]
    for tool in given_tools:
        for name in (tool.id, tool.slug):
            found = view.find(name)
            assert (found is not None) is (tool.id in visible)
            if found is not None:
                assert found is view.find(tool.id)
                assert found.policy == "always_ask" or tool.policy == "auto"
                same = replace(found, name=tool.name, policy=tool.policy, digest=tool.digest)
                assert all(getattr(same, one) == getattr(tool, one) for one in tool.__dataclass_fields__), (
                    "words and policy are all that rows change"
                )


@pytest.mark.req("AT-12")
@given(st.sampled_from(["auto", "always_ask"]), st.sampled_from([None, "auto", "always_ask", "nonsense"]))
def test_a_row_tightens_and_never_loosens(code: str, row: Any) -> None:
    tool = apply_override(made("a.b", policy=code), ToolRow("acme", "a-b", permission_policy=row))
    assert tool.policy == ("always_ask" if "always_ask" in (code, row) else "auto")


@pytest.mark.req("AT-12")
def test_other_words_are_another_digest_so_that_whoever_saw_the_old_ones_is_told() -> None:
    tool = made("a.b")
    assert apply_override(tool, ToolRow("acme", "a-b", description="Otherwise.")).digest != tool.digest
    assert apply_override(tool, ToolRow("acme", "a-b")) is tool
