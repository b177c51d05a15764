"""normalise: whatever a body returned becomes one Result, its data JSON and true to the output schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from handrail.core.define.result import Attachment, Result, ToolResponse, to_json
from handrail.core.define.tool import Tool
from handrail.core.define.validation import Invalid

_ENVELOPE = frozenset(
    {"success", "data", "summary", "markdown", "error", "code", "title", "metadata", "output", "attachments"}
)
_AS_IS = frozenset({int, bool, type(None)})


def normalise(value: Any, tool: Tool) -> Result:
    """The result of a body's return value; a value that breaks the tool's promise becomes a failure."""
    try:
        if value.__class__ in tool.plain_outputs:
            return Result(True, value)
        result = _envelope(value, tool)
        if result is None:
            return Result(data=_checked(value, tool))
        if result.success and result.data is not None:
            data = _checked(result.data, tool)
            return result if data is result.data else replace(result, data=data)
        if result.data is not None:
            return replace(result, data=to_jsonable_python(result.data))
        return result
    except Invalid as error:
        said = "; ".join(map(str, error.errors))
        return _broken(tool, f"its output does not fit its output schema: {said}", "INVALID_OUTPUT")
    except (PydanticSerializationError, RecursionError, ValueError) as error:
        return _broken(tool, f"its output cannot be written as JSON: {error}", "INVALID_OUTPUT")


def _checked(data: Any, tool: Tool) -> Any:
    if tool.check_output is not None:
        return tool.check_output(data)
    if data.__class__ in _AS_IS or data.__class__ is str:
        return data
    return to_jsonable_python(data, by_alias=True, inf_nan_mode="null")


def _envelope(value: Any, tool: Tool) -> Result | None:
    """The result a value stands for, or None when it is plain data."""
    kind = value.__class__
    if isinstance(value, Result):
        return value
    if kind is str:
        return Result(data=value, output=value)
    if isinstance(value, ToolResponse):
        return value.to_result()
    if not isinstance(value, Mapping):
        return None
    if _declares(tool, value):
        return None
    error = value.get("error")
    if isinstance(error, str) and error and not value.get("success"):
        return _failure(value, error)
    if set(value) <= _ENVELOPE and (
        isinstance(value.get("success"), bool) or ("output" in value and "title" in value)
    ):
        return _literal(value)
    return None


def _declares(tool: Tool, value: Mapping[str, Any]) -> bool:
    """Whether the output schema itself claims the keys that would make an envelope of it."""
    if tool.output_schema is None:
        return False
    declared = tool.output_schema.get("properties", {})
    error = value.get("error")
    if isinstance(error, str) and error:
        return "error" in declared
    return bool(set(value) & set(declared))


def _failure(value: Mapping[str, Any], error: str) -> Result:
    extra = {key: part for key, part in value.items() if key not in _ENVELOPE}
    data = value.get("data", extra or None)
    code = value.get("code")
    return Result(
        success=False,
        data=None if data is None else to_jsonable_python(data),
        summary=value.get("summary"),
        markdown=value.get("markdown"),
        error=error,
        code=code if isinstance(code, str) else "TOOL_FAILED",
        title=value.get("title"),
        metadata=dict(value.get("metadata") or {}),
    )


def _literal(value: Mapping[str, Any]) -> Result:
    success = bool(value.get("success", True))
    output = value.get("output")
    return Result(
        success=success,
        data=value.get("data"),
        summary=value.get("summary"),
        markdown=value.get("markdown"),
        error=value.get("error") if success else value.get("error") or "Unknown error",
        code=value.get("code") or (None if success else "TOOL_FAILED"),
        title=value.get("title"),
        metadata=dict(value.get("metadata") or {}),
        output=output if output is None or isinstance(output, str) else _text(output),
        attachments=tuple(map(_attachment, value.get("attachments") or ())),
    )


def _text(value: Any) -> str:
    return to_json(to_jsonable_python(value))


def _attachment(given: Any) -> Attachment:
    return given if isinstance(given, Attachment) else Attachment(**given)


def _broken(tool: Tool, problem: str, code: str) -> Result:
    return Result.fail(
        f"The tool {tool.id} ran, but {problem}. Do not call it again for this; tell its author.",
        code=code,
        summary=f"{tool.name} ran, but its answer could not be used",
    )
