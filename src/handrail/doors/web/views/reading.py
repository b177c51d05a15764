"""Reading a result that may come from a log: the envelope where it is one, data where not. Never raises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handrail.core.define.result import Attachment, Result

_TEXTS = ("summary", "markdown", "error", "code", "title", "output")


def result_of(given: Result | Mapping[str, Any]) -> Result:
    """The result behind an envelope; anything without `success` is data of a success."""
    if isinstance(given, Result):
        return given
    success = given.get("success")
    if not isinstance(success, bool):
        return Result(data=given)
    texts = {name: given[name] for name in _TEXTS if isinstance(given.get(name), str)}
    metadata = given.get("metadata")
    files = given.get("attachments")
    return Result(
        success=success,
        data=given.get("data"),
        metadata=metadata if isinstance(metadata, Mapping) else {},
        attachments=tuple(filter(None, map(_file, files))) if isinstance(files, (list, tuple)) else (),
        **texts,
    )


def _file(told: Any) -> Attachment | None:
    if not isinstance(told, Mapping):
        return None
    mime, name, ref = (told.get(one) for one in ("mime", "name", "ref"))
    if not (isinstance(mime, str) and isinstance(name, str) and isinstance(ref, str)):
        return None
    return Attachment(mime, name, ref=ref)
