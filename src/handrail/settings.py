"""Settings: what a person wrote in handrail.toml and in HANDRAIL_* variables, checked and frozen."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handrail.core.errors import DefinitionError
from handrail.data_files import did_you_mean, parse_toml, read_text

SETTINGS_FILE = "handrail.toml"
VARIABLE_PREFIX = "HANDRAIL_"
_OTHER_VARIABLES = frozenset({"API_KEY", "CONFIG", "KEY", "LEASE", "PER_TENANT", "RATE"})
"""Variables that others read, and that are no misspelling of a setting."""


class SettingsError(DefinitionError):
    """The settings cannot be used."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What is set, with what holds where nothing is."""

    tools: tuple[str, ...] = ()
    """Modules, packages or files with tools."""
    tenant: str = "local"
    user: str = "local"
    roles: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ("*",)
    """What the person at the terminal holds."""
    secrets: tuple[str, ...] = ()
    """Environment variables that a tool may ask for as secrets."""
    timeout: float | None = None
    """Seconds for every tool that names none itself."""
    cancel_grace: float = 5.0
    """Seconds that a cancelled body has to end."""
    policy: Mapping[str, Any] = field(default_factory=dict)
    """The table [policy], as written."""
    mcp: Mapping[str, Any] = field(default_factory=dict)
    """The table [mcp], as written: the foreign servers whose tools are used here."""
    workspace: Mapping[str, Any] | None = None
    """The table [workspace], as written: the folder that the workspace tools work in; None without them."""
    agents: str | None = None
    """A file with the policies of agents."""
    database: str | None = None
    """The address of the database; without one nothing outlives a command."""
    owner_url: str | None = None
    """The address by which the owner of a PostgreSQL database upgrades it."""
    host: str = "127.0.0.1"
    """Where `handrail serve` listens."""
    port: int = 8000
    hosts: tuple[str, ...] = ()
    """Names under which the server may be called, beside those of this machine; `*` is any."""
    mcp_hold: float = 20.0
    """Seconds for which a call over MCP is held that waits for a person, until its caller must come back."""
    rate_limit: float | None = 100.0
    """Requests a second that each key may make."""
    stop_grace: float = 20.0
    """Seconds that calls have to finish when the server stops."""
    telemetry: bool = False
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


def web_address(host: str, port: int) -> str:
    """The address of a server; a host of IPv6 stands in brackets."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def absolute_database_url(url: str, folder: Path) -> str:
    """An address of a database; a relative name of a SQLite file is relative to the folder."""
    kind, found, file = url.partition(":///")
    if kind.partition("+")[0] != "sqlite" or not found or file in ("", ":memory:"):
        return url
    name, mark, options = file.partition("?")
    return f"{kind}:///{(folder / name).absolute()}{mark}{options}"


def load_settings(start: Path | None = None, environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of a folder: its handrail.toml or that of a folder above, then the environment."""
    env = os.environ if environment is None else environment
    here = Path.cwd() if start is None else start
    file = find_file(here, env)
    given = {} if file is None else _from_file(file)
    given |= _from_environment(env)
    return Settings(**given, folder=here if file is None else file.parent, file=file)


def find_file(start: Path, environment: Mapping[str, str]) -> Path | None:
    """The settings file that counts here, or None: the one HANDRAIL_CONFIG names, or the nearest upwards."""
    if named := environment.get(f"{VARIABLE_PREFIX}CONFIG"):
        return (start / named).absolute()
    folders = (start.absolute(), *start.absolute().parents)
    return next((folder / SETTINGS_FILE for folder in folders if (folder / SETTINGS_FILE).is_file()), None)


def _from_file(file: Path) -> dict[str, Any]:
    table = parse_toml(read_text(file), str(file))
    unknown = next((key for key in table if key not in READERS), None)
    if unknown is not None:
        raise SettingsError(f"{file}: {unknown!r} is not a setting", remedy=did_you_mean(unknown, READERS))
    return {key: _read(READERS[key], value, f"{file}: {key}") for key, value in table.items()}


def _from_environment(env: Mapping[str, str]) -> dict[str, Any]:
    known = {variable_name(key): key for key in READERS if READERS[key] is not _table}
    tables = {variable_name(key): key for key in READERS if READERS[key] is _table}
    given: dict[str, Any] = {}
    for name, text in env.items():
        if name in known:
            key = known[name]
            given[key] = _read(READERS[key], _typed(key, text), name)
        elif name in tables:
            raise SettingsError(f"{name} is not read", remedy=f"write [{tables[name]}] in {SETTINGS_FILE}")
        elif near := _misspelt(name, known):
            raise SettingsError(f"{name} is not a variable that is read", remedy=f"did you mean {near}?")
    return given


def _misspelt(name: str, known: Iterable[str]) -> str | None:
    """The variable that is meant: others may begin like ours, but one that is nearly ours is a mistake."""
    near = difflib.get_close_matches(name, known, 1, 0.85) if name.startswith(VARIABLE_PREFIX) else []
    return near[0] if near and name.removeprefix(VARIABLE_PREFIX) not in _OTHER_VARIABLES else None


def variable_name(key: str) -> str:
    """The environment variable of a setting."""
    return f"{VARIABLE_PREFIX}{key.upper()}"


def _typed(key: str, text: str) -> Any:
    """Text from the environment in the shape that a file would give it."""
    if READERS[key] is _names:
        return [part.strip() for part in text.split(",") if part.strip()]
    if READERS[key] in (_seconds, _rate, _port):
        try:
            return int(text) if READERS[key] is _port else float(text)
        except ValueError:
            return text
    if READERS[key] is _switch:
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    return text


def _read(reader: Callable[[Any], Any], value: Any, where: str) -> Any:
    try:
        return reader(value)
    except ValueError as error:
        raise SettingsError(f"{where}: {value!r} is not what belongs here", remedy=f"{error}") from None


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise ValueError('give a list of names, such as ["one", "two"]')
    return tuple(value)


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("give a name")
    return value


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise ValueError("give a number of seconds above 0")
    return float(value)


def _rate(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise ValueError("give how many a second, a number above 0")
    return float(value)


def _port(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 65_535:
        raise ValueError("give a number from 1 to 65535, or 0 for any that is free")
    return value


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("give true or false")
    return value


def _address(value: Any) -> str:
    if not isinstance(value, str) or "://" not in value:
        raise ValueError('give an address, such as "sqlite:///handrail.db" or "postgresql://host/name"')
    return value


def _table(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("write it as a table, such as [policy]")
    return value


def _workspace(value: Any) -> Mapping[str, Any]:
    """A folder alone is a table with nothing but its root."""
    if isinstance(value, str) and value:
        return {"root": value}
    if not isinstance(value, dict):
        raise ValueError("name a folder, or write it as a table, such as [workspace]")
    return value


READERS: dict[str, Callable[[Any], Any]] = {
    "tools": _names,
    "tenant": _name,
    "user": _name,
    "roles": _names,
    "permissions": _names,
    "secrets": _names,
    "timeout": _seconds,
    "cancel_grace": _seconds,
    "policy": _table,
    "mcp": _table,
    "workspace": _workspace,
    "agents": _name,
    "database": _address,
    "owner_url": _address,
    "host": _name,
    "port": _port,
    "hosts": _names,
    "mcp_hold": _seconds,
    "rate_limit": _rate,
    "stop_grace": _seconds,
    "telemetry": _switch,
}
"""Every setting, and what reads it."""
