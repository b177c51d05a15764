"""How values, calls, decisions and results are written into columns, the same bytes on every database."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from pydantic_core import PydanticSerializationError, from_json, to_json, to_jsonable_python

from handrail.core.define.call import BoundCall, Repair
from handrail.core.define.decision import Decision, Step
from handrail.core.define.principal import Principal
from handrail.core.define.result import Attachment, Result
from handrail.core.define.schema import canonical_json

MAX_COLUMN_TEXT = 200
"""The most characters of a column of names: PostgreSQL's indexes take no longer values."""
STAND_IN_MARK = "⌁"
_TAG = "handrail:"
_DEPTH = 400
_DIGITS = 4_000
_NEEDS_TAGS = (b"NaN", b"Infinity", b'"handrail:')


def dump(value: Any) -> str:
    """A value as JSON text. Never fails: what is no JSON becomes text."""
    try:
        text = to_json(value, inf_nan_mode="constants", fallback=str)
    except Exception:
        return _dump_carefully(value)
    for suspect in _NEEDS_TAGS:
        if suspect in text:
            return _dump_carefully(value)
    return text.decode()


def load(text: str) -> Any:
    """The value that was dumped."""
    try:
        value = from_json(text)
    except ValueError:
        value = json.loads(text, parse_int=_int)
    return _untagged(value) if '"handrail:' in text else value


def fit_column(text: str) -> str:
    """The text as a column of names holds it: itself, or a stand-in for what is long or cannot be printed."""
    if len(text) <= MAX_COLUMN_TEXT and text.isprintable() and STAND_IN_MARK not in text:
        return text
    head = "".join(character for character in text[: MAX_COLUMN_TEXT // 2] if character.isprintable())
    return f"{head}{STAND_IN_MARK}{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _dump_carefully(value: Any) -> str:
    plain = _tagged(value, 0)
    try:
        return to_json(plain).decode()
    except (PydanticSerializationError, ValueError):
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def _tagged(value: Any, depth: int) -> Any:
    if value is None or value is True or value is False:
        return value
    if depth > _DEPTH:
        return "…"
    kind = type(value)
    if kind is str:
        return value if _is_text(value) else {f"{_TAG}text": value.encode("utf-8", "surrogatepass").hex()}
    if kind is int:
        return value if value.bit_length() < _DIGITS * 3 else {f"{_TAG}int": hex(value)}
    if kind is float:
        return value if math.isfinite(value) else {f"{_TAG}float": str(value)}
    if isinstance(value, Mapping):
        pairs = [(_key_text(key), _tagged(part, depth + 1)) for key, part in value.items()]
        if all(_is_text(name) and not name.startswith(_TAG) for name, _ in pairs):
            return dict(pairs)
        return {f"{_TAG}pairs": [[_tagged(name, depth), part] for name, part in pairs]}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_tagged(part, depth + 1) for part in value]
    return _tagged(_readable(value), depth + 1)


def _readable(value: Any) -> Any:
    """Something that is no JSON value, as one."""
    try:
        return to_jsonable_python(value, inf_nan_mode="constants", fallback=str)
    except Exception:
        try:
            return str(value)
        except Exception:
            return f"<{type(value).__name__}>"


def _key_text(key: Any) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    return str(key).lower() if isinstance(key, bool) else str(_readable(key))


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _untagged(value: Any) -> Any:
    if isinstance(value, list):
        return [_untagged(part) for part in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        [(name, part)] = value.items()
        if name == f"{_TAG}text":
            return bytes.fromhex(part).decode("utf-8", "surrogatepass")
        if name == f"{_TAG}int":
            return int(part, 16)
        if name == f"{_TAG}float":
            return float(part)
        if name == f"{_TAG}pairs":
            return {_untagged(key): _untagged(inner) for key, inner in part}
    return {name: _untagged(part) for name, part in value.items()}


def _int(digits: str) -> int:
    """An integer of any length; Python itself parses no more than some thousand digits at once."""
    sign, digits = (-1, digits[1:]) if digits[0] == "-" else (1, digits)
    number = 0
    for start in range(0, len(digits), _DIGITS):
        part = digits[start : start + _DIGITS]
        number = number * 10 ** len(part) + int(part)
    return sign * number


JsonObject = dict[str, Any]
_CALL = ("tool", "source", "session", "id", "turn", "idempotency_key", "digest", "message", "parent", "depth")
_RESULT = ("success", "summary", "markdown", "error", "code", "title", "output")


def json_data(value: Any) -> Any:
    """Any value as JSON data; what JSON cannot carry becomes text or null."""
    return to_jsonable_python(value, inf_nan_mode="null", fallback=str)


def dump_document(document: Mapping[str, Any] | None) -> str | None:
    """A JSON object in the one spelling that it has."""
    return None if document is None else canonical_json(document).decode()


def load_document(text: str | None) -> JsonObject | None:
    """The JSON object of a text; raises `ValueError` where it is anything else."""
    document = None if text is None else json.loads(text)
    if text is not None and not isinstance(document, dict):
        raise ValueError("it is no JSON object")
    return document


def encode_call(call: BoundCall) -> JsonObject:
    """A call without its arguments, which are stored beside it."""
    fields = {name: getattr(call, name) for name in _CALL}
    return {**fields, "principal": call.principal.to_dict()}


def decode_call(data: Mapping[str, Any]) -> BoundCall:
    fields = {name: data[name] for name in _CALL}
    return BoundCall(**fields, principal=Principal.from_dict(data["principal"]))


def encode_decision(decision: Decision) -> JsonObject:
    data: JsonObject = json_data(asdict(decision))
    return data


def decode_decision(data: Mapping[str, Any]) -> Decision:
    return Decision(**{**data, "trace": tuple(Step(**step) for step in data["trace"])})


def encode_repairs(repairs: tuple[Repair, ...]) -> list[list[Any]]:
    return [[repair.path, repair.kind, repair.before, repair.after] for repair in repairs]


def decode_repairs(data: list[list[Any]]) -> tuple[Repair, ...]:
    return tuple(Repair(*fields) for fields in data)


def encode_result(result: Result) -> JsonObject:
    """A result with the bytes of its attachments."""
    files = []
    for file in result.attachments:
        content = None if file.data is None else base64.b64encode(file.data).decode("ascii")
        files.append({"mime": file.mime, "name": file.name, "ref": file.ref, "data": content})
    return {
        **{name: getattr(result, name) for name in _RESULT},
        "data": json_data(result.data),
        "metadata": json_data(dict(result.metadata)),
        "files": files,
    }


def decode_result(data: Mapping[str, Any]) -> Result:
    files = []
    for file in data["files"]:
        content = None if file["data"] is None else base64.b64decode(file["data"])
        files.append(Attachment(file["mime"], file["name"], content, file["ref"]))
    fields = {name: data[name] for name in _RESULT}
    return Result(**fields, data=data["data"], metadata=data["metadata"], attachments=tuple(files))
