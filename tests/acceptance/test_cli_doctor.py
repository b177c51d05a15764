"""What `handrail doctor` says of a workspace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.acceptance.quick import handrail


def checks(cwd: Path, **env: str) -> dict[str, dict[str, Any]]:
    done = handrail("doctor", "--json", cwd=cwd, **env)
    return {one["name"]: one for one in json.loads(done.out)["checks"]}


def test_a_workspace_is_named_with_its_sandbox_and_its_search(tmp_path: Path) -> None:
    found = checks(tmp_path, HANDRAIL_WORKSPACE=".")
    assert found["workspace"]["said"] == str(tmp_path)
    assert found["sandbox"]["state"] == found["ripgrep"]["state"] == found["tools"]["state"] == "ok"
    assert "workspace" not in checks(tmp_path)


def test_a_machine_without_a_sandbox_is_told_what_to_install(tmp_path: Path) -> None:
    found = checks(tmp_path, HANDRAIL_WORKSPACE=".", PATH=str(tmp_path))
    assert found["sandbox"]["state"] == "warn"
    assert "bash refuses every command" in found["sandbox"]["said"]
    assert found["sandbox"]["remedy"] == "on Debian: apt-get install bubblewrap"


def test_a_folder_that_is_not_there_fails(tmp_path: Path) -> None:
    found = checks(tmp_path, HANDRAIL_WORKSPACE="nowhere")
    assert found["workspace"]["state"] == "fail"
    assert found["workspace"]["remedy"] == "make it, or name another root"
