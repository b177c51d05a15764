"""Data files: JSON, TOML and YAML that people write, read strictly."""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Callable, Collection, Hashable
from pathlib import Path
from typing import Any, NoReturn

from handrail.core.errors import DefinitionError

_DUPLICATE_REMEDY = "keep one of them"


class DataFileError(DefinitionError):
    """A data file cannot be read."""


def did_you_mean(word: object, names: Collection[str]) -> str:
    """The remedy for a name that is not known: the one that is nearly it, or all there are."""
    near = difflib.get_close_matches(str(word), names, 1, 0.5)
    return f"did you mean {near[0]!r}?" if near else f"use one of: {', '.join(names)}"


def read_data_file(path: Path) -> Any:
    """The data in a file, in the format that its name says."""
    parse = _FORMATS.get(path.suffix.lower())
    if parse is None:
        endings = ", ".join(_FORMATS)
        raise DataFileError(
            f"{path}: its format is not known", remedy=f"let its name end in one of: {endings}"
        )
    return parse(read_text(path), str(path))


def read_text(path: Path) -> str:
    """The text of a file that a person named."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        problem = f"{path}: it is not UTF-8 text (byte {error.start})"
        raise DataFileError(problem, remedy="save it as UTF-8") from None
    except OSError as error:
        why = error.strerror or error
        raise DataFileError(f"{path}: it cannot be read ({why})", remedy="check the path") from None


def parse_json(text: str, where: str) -> Any:
    """The value of a JSON text; `where` names it in errors."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(pairs)
        if len(values) < len(pairs):
            names = [name for name, _ in pairs]
            double = next(name for name in names if names.count(name) > 1)
            raise DataFileError(f"{where}: {double!r} is given twice in one object", remedy=_DUPLICATE_REMEDY)
        return values

    def no_number(word: str) -> NoReturn:
        raise DataFileError(f"{where}: {word} is not a JSON number", remedy="leave it out or write null")

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=no_number)
    except json.JSONDecodeError as error:
        at = f"line {error.lineno}, column {error.colno}"
        remedy = "write JSON: text and names in double quotes, no comma at the end"
        raise DataFileError(f"{where}: it is not JSON ({error.msg}, {at})", remedy=remedy) from None
    except (ValueError, RecursionError) as error:
        problem = f"{where}: it cannot be read as JSON ({error})"
        raise DataFileError(problem, remedy="write a smaller number or a flatter value") from None


def parse_toml(text: str, where: str) -> Any:
    """The table of a TOML text."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataFileError(f"{where}: it is not TOML ({error})", remedy="correct it there") from None


def parse_yaml(text: str, where: str) -> Any:
    """The value of a YAML text, as people write it: `yes` and `on` are true, days are days."""
    return _parse_yaml(text, where, lambda loader: None)


def parse_yaml_1_2(text: str, where: str) -> Any:
    """The value of a YAML text as programs exchange it, no more than JSON: `no` and a day are text."""
    return _parse_yaml(text, where, _like_json)


def _like_json(loader: Any) -> None:
    dropped = ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp")
    loader.yaml_implicit_resolvers = {
        first: [(tag, form) for tag, form in resolvers if tag not in dropped]
        for first, resolvers in loader.yaml_implicit_resolvers.items()
    }
    truth = re.compile("(?:true|True|TRUE|false|False|FALSE)$")
    loader.add_implicit_resolver("tag:yaml.org,2002:bool", truth, list("tTfF"))


def _parse_yaml(text: str, where: str, adapt: Callable[[Any], None]) -> Any:
    """YAML is an extra: its package is loaded here and nowhere else."""
    try:
        import yaml
    except ImportError:
        remedy = "pip install 'handrail[yaml]' (or pyyaml), or write the file as TOML or JSON"
        raise DataFileError(f"{where}: reading YAML needs the package pyyaml", remedy=remedy) from None

    class Once(yaml.SafeLoader):
        """Plain data only, and no name twice."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
            names: set[Any] = set()
            for key_node, _ in node.value:
                name = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
                if name is not None and name in names:
                    line = key_node.start_mark.line + 1
                    raise DataFileError(f"{where}:{line}: {name!r} is given twice", remedy=_DUPLICATE_REMEDY)
                names.add(name)
            return super().construct_mapping(node, deep)

    adapt(Once)
    try:
        return yaml.load(text, Once)
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        problem = f"{where}{line}: it is not YAML ({error.problem})"
        raise DataFileError(problem, remedy="correct it there") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DataFileError(f"{where}: it is not YAML ({error})", remedy="correct it there") from None


_FORMATS: dict[str, Callable[[str, str], Any]] = {
    ".toml": parse_toml,
    ".yaml": parse_yaml,
    ".yml": parse_yaml,
    ".json": parse_json,
}
