"""What `handrail doctor` says of a workspace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.acceptance.forked_cli import handrail


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


def test_a_workspace_that_a_variable_names_needs_no_file(tmp_path: Path) -> None:
    assert checks(tmp_path, HANDRAIL_WORKSPACE=".")["settings"] == {
        "name": "settings",
        "state": "ok",
        "said": "no handrail.toml here or above; HANDRAIL_WORKSPACE names the workspace",
        "remedy": None,
    }
    assert checks(tmp_path)["settings"]["state"] == "warn"


def test_a_folder_that_is_not_there_fails(tmp_path: Path) -> None:
    found = checks(tmp_path, HANDRAIL_WORKSPACE="nowhere")
    assert found["workspace"]["state"] == "fail"
    assert found["workspace"]["remedy"] == "make it, or name another root"


def test_a_tenant_that_has_none_of_the_tools_is_told_why(tmp_path: Path) -> None:
    (tmp_path / "handrail.toml").write_text('[workspace]\ntenant = "acme"\n')
    found = checks(tmp_path)
    assert "is that of the tenant acme; you act for local" in found["workspace"]["said"]
    assert found["workspace"]["remedy"] == 'write tenant = "acme" above [workspace], or leave it out there'
    (tmp_path / "handrail.toml").write_text('[workspace]\nroot = "all/{tenant}"\n')
    assert f"there is no folder {tmp_path}/all/local" in checks(tmp_path)["workspace"]["said"]
    none = handrail("tools", cwd=tmp_path)
    assert none.err == "There are no tools for the tenant local.\nSee why: handrail doctor\n"
    (tmp_path / "all/local").mkdir(parents=True)
    assert checks(tmp_path)["workspace"]["said"] == f"{tmp_path}/all/local"


def test_a_mistake_in_the_table_is_told_once_and_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "handrail.toml").write_text('[workspace]\nrot = "."\n')
    found = checks(tmp_path)
    assert [one["name"] for one in found.values() if one["state"] == "fail"] == ["workspace"]
    assert found["workspace"]["remedy"] == "did you mean 'root'?"


def test_an_environment_whose_python_commands_do_not_see_is_told_with_the_setting_that_shows_it(
    tmp_path: Path,
) -> None:
    (tmp_path / ".venv").mkdir()
    away = tmp_path.parent / f"{tmp_path.name}-python"
    (tmp_path / ".venv/pyvenv.cfg").write_text(f"home = {away}/bin\nversion = 3.13.0\n")
    found = checks(tmp_path, HANDRAIL_WORKSPACE=".")["commands"]
    assert found["state"] == "warn"
    assert found["said"] == f".venv is made of the Python in {away}, which commands do not see"
    assert found["remedy"] == f'write in [workspace]: readable = ["{away}"]'
    (tmp_path / "handrail.toml").write_text(f'[workspace]\nreadable = ["{away}"]\n')
    found = checks(tmp_path)
    assert "commands" not in found
    assert found["readable"]["said"] == f"there is no folder {away}"
    (tmp_path / ".venv/pyvenv.cfg").write_text("home = /usr/bin\n")
    assert "commands" not in checks(tmp_path, HANDRAIL_WORKSPACE=".")


def test_a_home_is_too_much_for_a_workspace(tmp_path: Path) -> None:
    found = checks(tmp_path, HANDRAIL_WORKSPACE=".", HOME=str(tmp_path))["workspace"]
    assert found["state"] == "warn"
    assert found["remedy"] == "name the folder of one project as root"


def test_a_sandbox_that_does_not_start_is_not_to_be_installed_again(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    found = checks(tmp_path, HANDRAIL_WORKSPACE=".", PATH=str(tmp_path))["sandbox"]
    assert "No permissions to create new namespace" in found["said"]
    assert "user namespaces" in found["remedy"]
