"""Document: an OpenAPI document of version 3.0 or 3.1 as plain data, and what its references lead to."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from handrail.ext.data_files import parse_json, parse_yaml_1_2, read_text
from handrail.ext.errors import DefinitionError

_MAX_VALUES = 1_000_000
"""Values in a document. YAML can say very much in few words."""
_MAX_REFS = 32


class OpenAPIError(DefinitionError):
    """An OpenAPI document cannot be imported."""


class UnsupportedOperation(Exception):
    """An operation that cannot be called from here; the words say why."""


class OpenAPIDocument:
    """One document. References stay inside of it: nothing is fetched."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data
        version = str(data.get("openapi") or data.get("swagger") or "")
        if not version.startswith(("3.0", "3.1")):
            named = f"version {version}" if version else "no version"
            raise OpenAPIError(
                f"the document has {named}; 3.0 and 3.1 can be imported",
                remedy="convert it to OpenAPI 3.1, or check that it is an OpenAPI document",
            )
        self.is_3_0 = version.startswith("3.0")

    def at(self, ref: str) -> Any:
        """What a reference points to."""
        if not ref.startswith("#"):
            raise OpenAPIError(
                f"the reference {ref!r} leads out of the document, and nothing is fetched",
                remedy="bundle the document into one file first",
            )
        node: Any = self.data
        for token in unquote(ref[1:]).split("/")[1:]:
            token = token.replace("~1", "/").replace("~0", "~")
            if isinstance(node, Mapping) and token in node:
                node = node[token]
            elif isinstance(node, list) and token.isdecimal() and int(token) < len(node):
                node = node[int(token)]
            else:
                raise OpenAPIError(f"the reference {ref!r} leads nowhere", remedy="correct the document")
        return node

    def part(self, node: Any) -> Mapping[str, Any]:
        """A parameter, body, response or scheme, which may stand elsewhere; empty when there is none."""
        for _ in range(_MAX_REFS):
            if not isinstance(node, Mapping):
                return {}
            if not isinstance(node.get("$ref"), str):
                return node
            node = self.at(node["$ref"])
        raise OpenAPIError("a reference leads to itself", remedy="correct the document")


def load_document(document: Mapping[str, Any] | str | Path) -> OpenAPIDocument:
    """From data, from a file, or from the text of one, JSON or YAML."""
    data: Any = document
    if not isinstance(document, Mapping):
        where = str(document) if isinstance(document, Path) else "the document"
        text = read_text(document) if isinstance(document, Path) else document
        parse = parse_json if text.lstrip().startswith("{") else parse_yaml_1_2
        data = parse(text, where)
    if not isinstance(data, Mapping):
        raise OpenAPIError("the document is not an object", remedy="give an OpenAPI document")
    try:
        return OpenAPIDocument(_JsonValues().value(data))
    except RecursionError:
        raise OpenAPIError("the document is nested too deeply", remedy="flatten it") from None


class _JsonValues:
    """The values of a document as those of JSON: names are text, so are days, and there is an end to them."""

    def __init__(self) -> None:
        self._values_left = _MAX_VALUES

    def value(self, value: Any) -> Any:
        self._values_left -= 1
        if self._values_left < 0:
            raise OpenAPIError(
                f"the document has more than {_MAX_VALUES} values", remedy="import a part of it"
            )
        if isinstance(value, Mapping):
            return {_name(key): self.value(part) for key, part in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(part) for part in value]
        if isinstance(value, (datetime.date, datetime.time)):
            return value.isoformat()
        return value


def _name(key: Any) -> str:
    if isinstance(key, bool):
        return str(key).lower()
    return key if isinstance(key, str) else str(key)
