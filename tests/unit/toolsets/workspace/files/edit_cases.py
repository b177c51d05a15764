"""Texts to edit, and what comes of edits."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from handrail import ToolError
from handrail.toolsets.workspace.files.edits import Edit, EditedText, apply_edits

SMALL = st.text(alphabet="ab \n\t", max_size=40)
WORDS = ["a", "b", "  a", "    a", "\ta", "b  "]
LINES = st.lists(st.sampled_from([*WORDS, ""]), max_size=12)
SEARCHED = st.tuples(SMALL, st.text(alphabet="ab \n", min_size=1, max_size=4), SMALL)
"""A text, what to search in it, and a text around it."""


def after(text: str, *edits: Edit) -> str:
    return apply_edits(text, edits, "a.py").text


def tried(text: str, *edits: Edit) -> EditedText | str:
    """The text after the edits, or the code of the refusal."""
    try:
        return apply_edits(text, edits, "a.py")
    except ToolError as error:
        return error.code


def refused(text: str, *edits: Edit) -> ToolError:
    with pytest.raises(ToolError) as refusal:
        apply_edits(text, edits, "a.py")
    return refusal.value
