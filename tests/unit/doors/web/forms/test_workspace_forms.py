"""The forms of the workspace tools: what has several lines in a file or a command has them on a page too."""

from __future__ import annotations

from pathlib import Path

import pytest
from htpy import fragment

from handrail import Principal
from handrail.doors.web.forms.form import form_of
from handrail.toolsets.workspace import WorkspaceToolset


@pytest.mark.parametrize(
    ("name", "field", "element"),
    [
        ("write_file", "content", "textarea"),
        ("edit_file", "search", "textarea"),
        ("edit_file", "replace", "textarea"),
        ("bash", "command", "textarea"),
        ("grep", "pattern", "input"),
    ],
)
async def test_a_text_of_several_lines_gets_a_box_of_several_lines(
    tmp_path: Path, name: str, field: str, element: str
) -> None:
    toolset = WorkspaceToolset(tmp_path)
    tool = await toolset.find(name, Principal.local())
    assert tool is not None
    drawn = str(fragment[form_of(tool).render()])
    await toolset.close()
    tag = drawn[: drawn.index(f'name="#/{field}"')].rpartition("<")[2]
    assert tag.split()[0] == element
