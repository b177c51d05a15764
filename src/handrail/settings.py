"""Settings: what a person wrote in handrail.toml and in HANDRAIL_* variables, checked and frozen."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, get_origin, get_type_hints

from handrail.core.errors import DefinitionError
from handrail.data_files import did_you_mean, parse_toml, read_text

SETTINGS_FILE = "handrail.toml"
VARIABLE_PREFIX = "HANDRAIL_"
_OTHER_VARIABLES = frozenset({"API_KEY", "CONFIG", "KEY", "LEASE", "PER_TENANT", "RATE"})
"""Variables that others read, and that are no misspelling of a setting."""


class SettingsError(DefinitionError):
    """The settings cannot be used."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """What belongs into a setting."""

    remedy: str
    fits: Callable[[Any], bool]
    convert: Callable[[Any], Any] = lambda value: value
    from_text: Callable[[str], Any] = str
    """The text of an environment variable in the shape that a file would give it."""

    def read(self, value: Any, where: str) -> Any:
        if not self.fits(value):
            raise SettingsError(f"{where}: {value!r} is not what belongs here", remedy=self.remedy)
        return self.convert(value)

    def read_text(self, text: str, where: str) -> Any:
        try:
            value = self.from_text(text)
        except ValueError:
            value = text
        return self.read(value, where)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_names(value: Any) -> bool:
    return _is_text(value) or (isinstance(value, list) and all(map(_is_text, value)))


def _is_positive(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf


def _switch(text: str) -> Any:
    return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)


_NAME = _Kind("give a name", _is_text)
_NAMES = _Kind(
    'give a list of names, such as ["one", "two"]',
    _is_names,
    lambda value: (value,) if isinstance(value, str) else tuple(value),
    lambda text: [part.strip() for part in text.split(",") if part.strip()],
)
_SECONDS = _Kind("give a number of seconds above 0", _is_positive, float, float)
_RATE = _Kind("give how many a second, a number above 0", _is_positive, float, float)
_PORT = _Kind(
    "give a number from 1 to 65535, or 0 for any that is free",
    lambda value: type(value) is int and 0 <= value <= 65_535,
    from_text=int,
)
_SWITCH = _Kind("give true or false", lambda value: isinstance(value, bool), from_text=_switch)
_ADDRESS = _Kind(
    'give an address, such as "sqlite:///handrail.db" or "postgresql://host/name"',
    lambda value: isinstance(value, str) and "://" in value,
)
_TABLE = _Kind("write it as a table, such as [policy]", lambda value: isinstance(value, dict))
_WORKSPACE = _Kind(
    "name a folder, or write it as a table, such as [workspace]",
    lambda value: isinstance(value, dict) or _is_text(value),
    lambda value: {"root": value} if isinstance(value, str) else value,
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What is set, with what holds where nothing is."""

    tools: Annotated[tuple[str, ...], _NAMES] = ()
    """Modules, packages or files with tools."""
    tenant: Annotated[str, _NAME] = "local"
    user: Annotated[str, _NAME] = "local"
    roles: Annotated[tuple[str, ...], _NAMES] = ()
    permissions: Annotated[tuple[str, ...], _NAMES] = ("*",)
    """What the person at the terminal holds."""
    secrets: Annotated[tuple[str, ...], _NAMES] = ()
    """Environment variables that a tool may ask for as secrets."""
    timeout: Annotated[float | None, _SECONDS] = None
    """Seconds for every tool that names none itself."""
    cancel_grace: Annotated[float, _SECONDS] = 5.0
    """Seconds that a cancelled body has to end."""
    policy: Annotated[Mapping[str, Any], _TABLE] = field(default_factory=dict)
    """The table [policy], as written."""
    mcp: Annotated[Mapping[str, Any], _TABLE] = field(default_factory=dict)
    """The table [mcp], as written: the foreign servers whose tools are used here."""
    workspace: Annotated[Mapping[str, Any] | None, _WORKSPACE] = None
    """The table [workspace], as written: the folder that the workspace tools work in; None without them."""
    agents: Annotated[str | None, _NAME] = None
    """A file with the policies of agents."""
    database: Annotated[str | None, _ADDRESS] = None
    """The address of the database; without one nothing outlives a command."""
    owner_url: Annotated[str | None, _ADDRESS] = None
    """The address by which the owner of a PostgreSQL database upgrades it."""
    host: Annotated[str, _NAME] = "127.0.0.1"
    """Where `handrail serve` listens."""
    port: Annotated[int, _PORT] = 8000
    hosts: Annotated[tuple[str, ...], _NAMES] = ()
    """Names under which the server may be called, beside those of this machine; `*` is any."""
    mcp_hold: Annotated[float, _SECONDS] = 20.0
    """Seconds for which a call over MCP is held that waits for a person, until its caller must come back."""
    rate_limit: Annotated[float | None, _RATE] = 100.0
    """Requests a second that each key may make."""
    stop_grace: Annotated[float, _SECONDS] = 20.0
    """Seconds that calls have to finish when the server stops."""
    telemetry: Annotated[bool, _SWITCH] = False
    """Whether OpenTelemetry is told of calls."""
    folder: Path = field(default_factory=Path.cwd)
    """What relative names in the settings are relative to."""
    file: Path | None = None
    """Where they were read; None without a file."""

    def path(self, name: str) -> Path:
        """A file that the settings name."""
        return self.folder / name

    @property
    def url(self) -> str:
        """Where `handrail serve` answers."""
        return web_address(self.host, self.port)

    @property
    def database_url(self) -> str | None:
        """The address of the database, with the file of SQLite in full."""
        return None if self.database is None else absolute_database_url(self.database, self.folder)


KINDS: dict[str, _Kind] = {
    name: hint.__metadata__[0]
    for name, hint in get_type_hints(Settings, include_extras=True).items()
    if get_origin(hint) is Annotated
}
"""Every setting that can be written, and what belongs into it."""


def web_address(host: str, port: int) -> str:
    """The address of a server; a host of IPv6 stands in brackets."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def absolute_database_url(url: str, folder: Path) -> str:
    """An address of a database; a relative name of a SQLite file is relative to the folder."""
    kind, separator, file = url.partition(":///")
    if kind.partition("+")[0] != "sqlite" or not separator or file in ("", ":memory:"):
        return url
    name, mark, options = file.partition("?")
    return f"{kind}:///{(folder / name).absolute()}{mark}{options}"


def load_settings(start: Path | None = None, environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of a folder: its handrail.toml or that of a folder above, then the environment."""
    env = os.environ if environment is None else environment
    folder = Path.cwd() if start is None else start
    file = find_file(folder, env)
    values = {} if file is None else _from_file(file)
    values |= _from_environment(env)
    return Settings(**values, folder=folder if file is None else file.parent, file=file)


def find_file(start: Path, environment: Mapping[str, str]) -> Path | None:
    """The settings file that counts here, or None: the one HANDRAIL_CONFIG names, or the nearest upwards."""
    if named := environment.get(f"{VARIABLE_PREFIX}CONFIG"):
        return (start / named).absolute()
    folders = (start.absolute(), *start.absolute().parents)
    return next((folder / SETTINGS_FILE for folder in folders if (folder / SETTINGS_FILE).is_file()), None)


def _from_file(file: Path) -> dict[str, Any]:
    table = parse_toml(read_text(file), str(file))
    unknown = next((key for key in table if key not in KINDS), None)
    if unknown is not None:
        raise SettingsError(f"{file}: {unknown!r} is not a setting", remedy=did_you_mean(unknown, KINDS))
    return {key: KINDS[key].read(value, f"{file}: {key}") for key, value in table.items()}


def _from_environment(env: Mapping[str, str]) -> dict[str, Any]:
    keys = {variable_name(key): key for key in KINDS}
    tables = {name for name, key in keys.items() if KINDS[key] is _TABLE}
    values: dict[str, Any] = {}
    for name, text in env.items():
        if name in tables:
            raise SettingsError(f"{name} is not read", remedy=f"write [{keys[name]}] in {SETTINGS_FILE}")
        if name in keys:
            values[keys[name]] = KINDS[keys[name]].read_text(text, name)
        elif near := _misspelt(name, keys.keys() - tables):
            raise SettingsError(f"{name} is not a variable that is read", remedy=f"did you mean {near}?")
    return values


def _misspelt(name: str, variables: Iterable[str]) -> str | None:
    """The variable that is meant: others may begin like ours, but one that is nearly ours is a mistake."""
    near = difflib.get_close_matches(name, variables, 1, 0.85) if name.startswith(VARIABLE_PREFIX) else []
    return near[0] if near and name.removeprefix(VARIABLE_PREFIX) not in _OTHER_VARIABLES else None


def variable_name(key: str) -> str:
    """The environment variable of a setting."""
    return f"{VARIABLE_PREFIX}{key.upper()}"
