"""A rule book finds the same rules, in the same order, as trying every rule on every name."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handrail import Policy, Rule, Tool, define
from handrail.core.guard.decide import rules_for
from handrail.core.guard.rules import RuleIndex

words = st.sampled_from(["a", "b", "ab", "data", "x1"])
names = st.lists(words, min_size=1, max_size=3).map(".".join)
patterns = (
    names
    | st.lists(
        words
        | st.sampled_from(["*", "?", ".", "__", "-", "[ab]", "[!a]", "[", "]", "**", "*]", "[a", "[\na]"]),
        min_size=1,
        max_size=5,
    ).map("".join)
    | names.map(lambda name: f"{name}*")
    | names.map(lambda name: f"*{name}")
    | names.map(lambda name: f"*{name[1:]}*")
)


def named(name: str, *aliases: str) -> Tool:
    options = {"description": "Do it.", "level": "read", "execute": lambda args: 1}
    return define(name, {**options, "aliases": [alias for alias in aliases if alias != name]})


def policy(*given: list[str]) -> Policy:
    """A policy with the first patterns, inside one with the next, and so on."""
    made = Policy()
    for one in reversed(given):
        made = made.spawn(Policy(rules=[Rule(pattern) for pattern in one]))
    return made


@pytest.mark.req("PM-26")
@given(st.lists(st.lists(patterns, max_size=6), min_size=1, max_size=3), names, st.sets(names, max_size=2))
@example([["*", "**", "?", "[!]]*", "a*", "*a", "a"]], "a", set())
@example([["[\na]", "*[\na]", "a[\n.]b"]], "a.b", {"a"})
@example([["*.b]", "*]b", "[a]", "*[b]", "a[", "a[*"]], "a.b", {"b"})
def test_it_finds_what_trying_every_rule_finds(given: list[list[str]], name: str, aliases: set[str]) -> None:
    within, tool = policy(*given), named(name, *sorted(aliases))
    assert RuleIndex(within.all_rules).about(tool) == rules_for(tool, within)


@pytest.mark.req("PM-26")
@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("mail.send", True),
        ("mail__send", True),
        ("mail-send", True),
        ("post.send", True),
        ("mail.*", True),
        ("*.send", True),
        ("m?il*", True),
        ("*[lx].s*", True),
        ("*", True),
        ("mail", False),
        ("mail.sen", False),
        ("Mail.*", False),
        ("*.sent", False),
        ("send*", False),
    ],
)
def test_a_rule_speaks_of_a_tool_by_any_of_its_names(pattern: str, found: bool) -> None:
    book = RuleIndex([Rule(pattern)])
    assert bool(book.about(named("mail.send", "post.send"))) is found
