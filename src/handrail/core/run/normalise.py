"""normalise: whatever a body returned becomes one Result, its data JSON and true to the output schema."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from handrail.core.define.json_values import is_flat_object
from handrail.core.define.result import Attachment, Result, ToolResponse, change_result, make_result
from handrail.core.define.schema import branches
from handrail.core.define.tool import Tool
from handrail.core.define.validation import InvalidValue

_TEXTS = ("summary", "markdown", "error", "code", "title", "output")
_ENVELOPE = frozenset({"success", "data", "metadata", "attachments", *_TEXTS})
_ENVELOPE_SIGNS = frozenset({"success", "error", "output"})
"""An object without any of these keys is data and no envelope."""
_EAGER = frozenset({dict, list, str, int, float, bool, type(None)})
_LAZY = (Iterator, AsyncIterator)


def normalise(value: Any, tool: Tool) -> Result:
    """The result of a body's return value; a value that breaks the tool's promise becomes a failure."""
    kind = value.__class__
    try:
        if kind is dict:
            if is_bare_object(value, tool):
                return make_result(True, value.copy())
        elif kind in tool.plain_outputs:
            return make_result(True, value)
        else:
            if isinstance(value, str):
                text = readable_text(value)
                check = tool.check_output
                return Result(True, text if check is None else check(text), output=text)
            if isinstance(value, Result):
                return _as_json_result(value, tool)
            if isinstance(value, ToolResponse):
                return _as_json_result(value.to_result(), tool)
        if kind is dict or isinstance(value, Mapping):
            envelope = _envelope(value, tool)
            if envelope is not None:
                return _as_json_result(envelope, tool, is_described(tool))
        data = _checked_json(value, tool)
        if data.__class__ is dict and data.get("error") and _says_error(data):
            return _as_json_result(_failure(data), tool)
        return Result(True, data)
    except Exception as error:  # serialisers and properties of the author's own types run here
        return _broken(tool, f"its output {_problem(error)}")


def is_bare_object(value: dict[Any, Any], tool: Tool) -> bool:
    """Whether a dict is data of a tool that promised no more than an object, and JSON as it stands."""
    return tool.any_object and _ENVELOPE_SIGNS.isdisjoint(value) and is_flat_object(value)


def answered(answer: Result, tool: Tool) -> Result | str:
    """What a person answers in the tool's place, held to the same promise; or what does not fit.

    An answer in words alone is fit for every tool.
    """
    try:
        if (
            answer.success
            and answer.data is None
            and not (answer.output or answer.summary or answer.markdown)
        ):
            _checked_json(None, tool)
        return _as_json_result(answer, tool)
    except Exception as error:
        return f"The answer given in place of {tool.id} {_problem(error)}"


def _problem(error: Exception) -> str:
    if isinstance(error, InvalidValue):
        return f"does not fit its output schema: {'; '.join(map(str, error.errors))}"
    return f"cannot be written as JSON: {str(error) or type(error).__name__}"


def _checked_json(data: Any, tool: Tool) -> Any:
    """The value as JSON data that fits the tool's output schema."""
    kind = data.__class__
    if kind not in _EAGER and "__pydantic_validator__" not in kind.__dict__ and isinstance(data, _LAZY):
        raise ValueError("it is a generator; return a list, or stream with ctx.append_output")
    if tool.check_output is None:
        return _as_json(data)
    return readable_json(tool.check_output(data))


def _as_json(value: Any) -> Any:
    """The value as JSON data, where nothing more was promised."""
    try:
        data = to_jsonable_python(value, by_alias=True, inf_nan_mode="null")
    except UnicodeEncodeError:  # in a name
        data = to_jsonable_python(_with_readable_text(value), by_alias=True, inf_nan_mode="null")
    return readable_json(data)


def _envelope(value: Mapping[str, Any], tool: Tool) -> Result | None:
    """The result a mapping stands for, or None when it is plain data."""
    success = value.get("success")
    if success is not True and value.get("error") and _says_error(value):
        return _failure(value)
    if success.__class__ is not bool and not ("output" in value and "title" in value):
        return None
    if _declares(value, tool):
        return None
    if success is False:
        return _failure(value)
    return Result(**_envelope_fields(value)) if _ENVELOPE.issuperset(value) else None


def _says_error(value: Mapping[str, Any]) -> bool:
    return isinstance(value["error"], str) and value.get("success") is not True


def _failure(value: Mapping[str, Any]) -> Result:
    """A failure; what is said beside the envelope's own words is its data."""
    more = {name: part for name, part in value.items() if name not in _ENVELOPE}
    return Result(**{"data": more or None, **_envelope_fields(value), "success": False})


def _envelope_fields(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in value.items() if name in _ENVELOPE and part is not None}


def _declares(value: Mapping[str, Any], tool: Tool) -> bool:
    """Whether the output schema itself claims the keys that would make an envelope of the mapping."""
    schema = tool.output_schema
    if schema is None:
        return False
    return any(value.keys() & (node.get("properties") or {}).keys() for node in branches(schema, schema))


def is_described(tool: Tool) -> bool:
    """Whether the output schema says anything of data; what a bare `dict` says fits an envelope as well."""
    schema = tool.output_schema
    if schema is None:
        return False
    is_bare = schema.get("type") == "object" and schema.keys() <= {"type", "additionalProperties"}
    return not is_bare or schema.get("additionalProperties", True) not in (True, {})


def _as_json_result(result: Result, tool: Tool, checking: bool = True) -> Result:
    """The same result, JSON in every part; a failure says why."""
    changes: dict[str, Any] = {}
    for name in _TEXTS:
        value = getattr(result, name)
        if value is not None and (value.__class__ is not str or not value.isascii()):
            changes[name] = (
                readable_text(value) if isinstance(value, str) else to_json(_as_json(value)).decode()
            )
    if result.metadata:
        changes["metadata"] = _as_json(dict(result.metadata))
    if result.attachments:
        changes["attachments"] = tuple(map(_attachment, result.attachments))
    if result.data is not None:
        data = _checked_json(result.data, tool) if result.success and checking else _as_json(result.data)
        if data is not result.data:
            changes["data"] = data
    if not result.success and not (result.error and result.code):
        changes.setdefault("error", result.error or "Unknown error")
        changes.setdefault("code", result.code or "TOOL_FAILED")
    return change_result(result, changes) if changes else result


def _attachment(value: Any) -> Attachment:
    """An attachment, also as a mapping in the words of others: bytes as base64, a reference as a URL."""
    if isinstance(value, Attachment):
        return value
    if not isinstance(value, Mapping):
        raise ValueError("an attachment is an Attachment, or has mime, name and either data or ref")
    data = value.get("data")
    return Attachment(
        mime=_first(value, "mime", "mimeType", "mediaType") or "application/octet-stream",
        name=_first(value, "name", "filename") or "attachment",
        data=base64.b64decode(data, validate=True) if isinstance(data, str) else data,
        ref=_first(value, "ref", "url"),
    )


def _first(values: Mapping[str, Any], *names: str) -> str | None:
    return next((values[name] for name in names if values.get(name)), None)


def _broken(tool: Tool, problem: str) -> Result:
    return Result.fail(
        f"The tool {tool.id} ran, but {problem}. Do not call it again for this; tell its author.",
        code="INVALID_OUTPUT",
        summary=f"{tool.name} ran, but its answer could not be used",
    )


def readable_json(data: Any) -> Any:
    """JSON data in which all text is text: a mark stands for each half of a surrogate pair."""
    try:
        to_json(data)
    except PydanticSerializationError:
        return _with_readable_text(data)
    return data


def _with_readable_text(data: Any) -> Any:
    if isinstance(data, str):
        return readable_text(data)
    if isinstance(data, dict):
        return {_with_readable_text(name): _with_readable_text(part) for name, part in data.items()}
    return [_with_readable_text(item) for item in data] if isinstance(data, list) else data


def readable_text(value: str) -> str:
    """The text, also of an enumeration member; the name of a file can hold what is none."""
    text = str.__str__(value)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
