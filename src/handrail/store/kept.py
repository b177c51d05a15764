"""How calls, decisions and results are kept: as JSON data, and read back as they were."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pydantic_core import to_jsonable_python

from handrail.core.define.call import Call, Repair
from handrail.core.define.decision import Decision, Step
from handrail.core.define.principal import Principal
from handrail.core.define.result import Attachment, Result

Data = dict[str, Any]

_CALL = ("tool", "source", "session", "id", "turn", "idempotency_key", "digest", "message", "parent", "depth")
_RESULT = ("success", "summary", "markdown", "error", "code", "title", "output")


def plain(value: Any) -> Any:
    """Any value as JSON data; what JSON cannot carry becomes text or null."""
    return to_jsonable_python(value, inf_nan_mode="null", fallback=str)


def call_data(call: Call) -> Data:
    """A call without its arguments, which are kept beside it."""
    assert call.principal is not None
    told = {name: getattr(call, name) for name in _CALL}
    return {**told, "principal": call.principal.to_dict()}


def call_of(data: Mapping[str, Any]) -> Call:
    told = {name: data[name] for name in _CALL}
    return Call(**told, principal=Principal.from_dict(data["principal"]))


def decision_data(decision: Decision) -> Data:
    data: Data = plain(asdict(decision))
    return data


def decision_of(data: Mapping[str, Any]) -> Decision:
    return Decision(**{**data, "trace": tuple(Step(**step) for step in data["trace"])})


def repairs_data(repairs: tuple[Repair, ...]) -> list[Data]:
    return [
        {"path": one.path, "kind": one.kind, "before": plain(one.before), "after": plain(one.after)}
        for one in repairs
    ]


def repairs_of(data: list[Data]) -> tuple[Repair, ...]:
    return tuple(Repair(**one) for one in data)


def result_data(result: Result) -> Data:
    """A whole result, with the bytes of its attachments."""
    told = {name: getattr(result, name) for name in _RESULT}
    files = [
        {
            "mime": one.mime,
            "name": one.name,
            "ref": one.ref,
            "data": None if one.data is None else base64.b64encode(one.data).decode("ascii"),
        }
        for one in result.attachments
    ]
    return {**told, "data": plain(result.data), "metadata": plain(dict(result.metadata)), "files": files}


def result_of(data: Mapping[str, Any]) -> Result:
    files = tuple(
        Attachment(
            one["mime"],
            one["name"],
            None if one["data"] is None else base64.b64decode(one["data"]),
            one["ref"],
        )
        for one in data["files"]
    )
    told = {name: data[name] for name in _RESULT}
    return Result(**told, data=data["data"], metadata=data["metadata"], attachments=files)
