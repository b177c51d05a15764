"""Which lines of a tool's text are those of a diff."""

from __future__ import annotations

import difflib

from hypothesis import given
from hypothesis import strategies as st

from handrail.platform.display_text import diff_lines, has_diff, without_repeated_title
from handrail.toolsets.workspace.files.diff import diff

WORDS = ["", "a", "b", "- a", "-- a", "+ b", "++ b", "@@ -1 +1 @@", " c"]
LINES = st.lists(st.sampled_from(WORDS), max_size=8)


def kinds(text: str) -> list[str]:
    return [line.kind for line in diff_lines(text)]


@given(before=LINES, after=LINES, context=st.integers(0, 3))
def test_each_line_of_a_diff_is_what_it_was_made_of_whatever_the_files_hold(
    before: list[str], after: list[str], context: int
) -> None:
    made = list(difflib.unified_diff(before, after, "a/x", "b/x", lineterm="", n=context))
    text = "\n".join(["Edited x.", *made, "- a list", "+ below it"])
    found = diff_lines(text)
    assert "\n".join(line.text for line in found) == text
    assert [line.text for line in found if line.kind == "text"] == ["Edited x.", "- a list", "+ below it"]
    said = {"-": "removed", "+": "added", " ": "same", "@": "hunk"}
    assert [line.kind for line in found[1:-2]] == [
        "file" if at < 2 else said[one[0]] for at, one in enumerate(made)
    ]


def test_the_diffs_of_our_own_tools_are_known() -> None:
    told = diff("one\ntwo", "one\n2", "a.txt").text
    assert kinds(f"Edited a.txt.\n{told}\nWarning: it may not parse") == [
        *("text", "file", "file", "hunk", "same", "removed", "same", "added", "same", "text")
    ]


def test_what_git_says_of_a_file_stands_with_its_diff() -> None:
    text = "diff --git a/x b/x\nnew file mode 100644\nindex 0000000..5626abf\n--- /dev/null\n+++ b/x"
    assert kinds(f"{text}\n@@ -0,0 +1 @@\n+one\n M x") == [*["file"] * 5, "hunk", "added", "text"]


def test_a_hunk_that_was_cut_ends_where_it_was_cut() -> None:
    text = "--- a/x\n+++ b/x\n@@ -1,90 +1,90 @@\n-one\n[88 lines left out]\n- a list"
    assert kinds(text) == ["file", "file", "hunk", "removed", "text", "text"]


def test_what_only_looks_a_little_like_a_diff_is_text() -> None:
    for text in ("- one\n+ two", "--- a\n+++ b", "@@ -1 +1 @@\n-a\n+b", "--- a\ntext\n@@ -1 +1 @@"):
        assert not has_diff(diff_lines(text))
        assert set(kinds(text)) == {"text"}


def test_a_line_that_stands_above_already_is_not_said_again() -> None:
    assert (
        without_repeated_title("Edited a.py.\nThe edit: at line 6.", "Edited a.py (+1 -1)")
        == "The edit: at line 6."
    )
    assert without_repeated_title("Created a.md (1 line).", "Created a.md (1 line)") == ""
    assert without_repeated_title("Edited b.py.\nmore", "Edited a.py") == "Edited b.py.\nmore"
    assert without_repeated_title("\nmore", "Done") == "\nmore"
    assert without_repeated_title("more", None) == "more"
