"""Settings: the nearest handrail.toml and HANDRAIL_* variables, strictly."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.data_files import DataFileError
from handrail.settings import KINDS, Settings, SettingsError, load_settings, variable_name

WHOLE = """
tools = ["shop.tools", "more.py"]
tenant = "acme"
user = "ana"
roles = ["clerk"]
permissions = ["orders.read"]
secrets = ["BANK_TOKEN"]
timeout = 30
cancel_grace = 2.5
agents = "agents.yaml"

[policy]
approval_mode = "policy"
"""


def test_a_file_sets_everything(tmp_path: Path) -> None:
    (tmp_path / "handrail.toml").write_text(WHOLE)
    settings = load_settings(tmp_path, {})
    assert settings == Settings(
        tools=("shop.tools", "more.py"),
        tenant="acme",
        user="ana",
        roles=("clerk",),
        permissions=("orders.read",),
        secrets=("BANK_TOKEN",),
        timeout=30.0,
        cancel_grace=2.5,
        agents="agents.yaml",
        policy={"approval_mode": "policy"},
        folder=tmp_path,
        file=tmp_path / "handrail.toml",
    )
    assert settings.path("agents.yaml") == tmp_path / "agents.yaml"


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, {"HANDRAIL_CONFIG": ""})
    assert settings == Settings(folder=tmp_path)
    assert (settings.tenant, settings.user, settings.permissions) == ("local", "local", ("*",))


def test_the_nearest_file_upwards_counts_and_names_are_relative_to_it(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "handrail.toml").write_text('tenant = "outer"')
    assert load_settings(below, {}).tenant == "outer"
    (tmp_path / "a" / "handrail.toml").write_text('tenant = "inner"')
    settings = load_settings(below, {})
    assert (settings.tenant, settings.folder) == ("inner", tmp_path / "a")


def test_the_environment_comes_on_top(tmp_path: Path) -> None:
    (tmp_path / "handrail.toml").write_text(WHOLE)
    given = {
        "HANDRAIL_TOOLS": "one, two.py,",
        "HANDRAIL_TENANT": "other",
        "HANDRAIL_TIMEOUT": "1.5",
        "HANDRAIL_PERMISSIONS": "",
    }
    settings = load_settings(tmp_path, given)
    assert settings.tools == ("one", "two.py")
    assert (settings.tenant, settings.timeout, settings.permissions) == ("other", 1.5, ())
    assert settings.user == "ana"


def test_handrail_config_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text('tenant = "named"')
    (tmp_path / "handrail.toml").write_text('tenant = "found"')
    assert load_settings(tmp_path, {"HANDRAIL_CONFIG": "other.toml"}).tenant == "named"
    with pytest.raises(DataFileError, match=r"gone\.toml: it cannot be read"):
        load_settings(tmp_path, {"HANDRAIL_CONFIG": "gone.toml"})


@pytest.mark.parametrize(
    ("text", "problem", "remedy"),
    [
        ('tool = ["a"]', "'tool' is not a setting", "did you mean 'tools'?"),
        ("zzz = 1", "'zzz' is not a setting", "use one of: tools, tenant, user, roles, permissions"),
        ("tools = 5", "tools: 5 is not what belongs here", "give a list of names"),
        ('tools = ""', "tools: '' is not what belongs here", "give a list of names"),
        ("tools = [5]", "tools: [5] is not what belongs here", "give a list of names"),
        ('tenant = ""', "tenant: '' is not what belongs here", "give a name"),
        ("timeout = 0", "timeout: 0 is not what belongs here", "give a number of seconds above 0"),
        ("timeout = true", "timeout: True is not what belongs here", "give a number of seconds above 0"),
        ("timeout = inf", "timeout: inf is not what belongs here", "give a number of seconds above 0"),
        ("policy = 5", "policy: 5 is not what belongs here", "write it as a table"),
    ],
)
def test_a_mistake_names_file_key_and_remedy(tmp_path: Path, text: str, problem: str, remedy: str) -> None:
    (tmp_path / "handrail.toml").write_text(text)
    with pytest.raises(SettingsError) as error:
        load_settings(tmp_path, {})
    assert error.value.problem == f"{tmp_path / 'handrail.toml'}: {problem}"
    assert remedy in (error.value.remedy or "")


def test_a_file_that_is_no_toml_says_the_line(tmp_path: Path) -> None:
    (tmp_path / "handrail.toml").write_text("tools = [\n")
    with pytest.raises(DataFileError, match=r"handrail\.toml: it is not TOML \(.* \(at end of document\)\)"):
        load_settings(tmp_path, {})


def test_a_variable_that_is_nearly_ours_is_a_mistake_and_others_are_left_alone(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as error:
        load_settings(tmp_path, {"HANDRAIL_TOOL": "a"})
    assert error.value.remedy == "did you mean HANDRAIL_TOOLS?"
    others = {"HANDRAIL_CORPORA": "/data", "HANDRAIL_PEERS_PYTHON": "python", "HANDRAILS": "x"}
    assert load_settings(tmp_path, others) == Settings(folder=tmp_path)


def test_a_policy_in_the_environment_is_not_passed_over_in_silence(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as error:
        load_settings(tmp_path, {"HANDRAIL_POLICY": "strict"})
    assert error.value.remedy == "write [policy] in handrail.toml"


def test_a_number_in_the_environment_is_checked(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="HANDRAIL_TIMEOUT: 'soon' is not what belongs here"):
        load_settings(tmp_path, {"HANDRAIL_TIMEOUT": "soon"})


def test_every_setting_has_a_reader_and_a_variable() -> None:
    assert set(KINDS) | {"folder", "file"} == set(Settings.__dataclass_fields__)
    assert variable_name("cancel_grace") == "HANDRAIL_CANCEL_GRACE"


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("sqlite:///shop.db", "sqlite:///{folder}/shop.db"),
        ("sqlite:///data/shop.db?timeout=5", "sqlite:///{folder}/data/shop.db?timeout=5"),
        ("sqlite:////var/shop.db", "sqlite:////var/shop.db"),
        ("sqlite+pysqlite:///shop.db", "sqlite+pysqlite:///{folder}/shop.db"),
        ("sqlite://", "sqlite://"),
        ("sqlite:///:memory:", "sqlite:///:memory:"),
        ("postgresql://ana:p@ss@db/shop", "postgresql://ana:p@ss@db/shop"),
        ("postgresql:///shop", "postgresql:///shop"),
    ],
)
def test_a_sqlite_file_is_relative_to_the_settings_and_other_addresses_stay(
    tmp_path: Path, given: str, meant: str
) -> None:
    (tmp_path / "handrail.toml").write_text(f'database = "{given}"\n')
    (tmp_path / "below").mkdir()
    settings = load_settings(tmp_path / "below", {})
    assert settings.database_url == meant.format(folder=tmp_path)


@pytest.mark.parametrize(("text", "on"), [("true", True), ("1", True), ("False", False), ("0", False)])
def test_a_switch_in_the_environment_is_true_or_false(tmp_path: Path, text: str, on: bool) -> None:
    assert load_settings(tmp_path, {"HANDRAIL_TELEMETRY": text}).telemetry is on


def test_what_is_no_switch_and_no_address_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as error:
        load_settings(tmp_path, {"HANDRAIL_TELEMETRY": "perhaps"})
    assert error.value.remedy == "give true or false"
    with pytest.raises(SettingsError) as error:
        load_settings(tmp_path, {"HANDRAIL_DATABASE": "shop.db"})
    assert 'such as "sqlite:///handrail.db"' in (error.value.remedy or "")
