"""Result: the envelope every tool yields, how each audience sees it, and where it is cut."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from pydantic_core import to_json as to_json_bytes

from handrail.core.frozen_record import constructor_of, record, replacer_of

MODEL_LIMIT = 30_000
"""Characters of one result that a model is given unless the caller asks for another bound."""


def truncate(text: str, limit: int, handle: str | None = None, begins: int = 0) -> str:
    """At most `limit` characters of the text, and a marker that says what is missing and how to get it.

    `begins` is where the text itself begins in the whole that the handle stands for.
    """
    if len(text) <= limit:
        return text
    shown = max(0, limit)
    if handle is None:
        rest = "Ask for less, or for a part of it."
    else:
        rest = f"Read on with read_result(handle={handle!r}, offset={begins + shown})."
    return f"{text[:shown]}\n[cut: {shown} of {len(text)} characters shown. {rest}]"


PAGE = "handrail_page"
"""In the metadata of a result that is a page of another: its handle, and where the page lies in the whole."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """Binary content beside a result: bytes, or a reference to where they are stored."""

    mime: str
    name: str
    data: bytes | None = None
    ref: str | None = None

    def __post_init__(self) -> None:
        if (self.data is None) == (self.ref is None):
            raise ValueError("An attachment carries either data (bytes) or ref (where they are stored)")
        if self.data is not None and not isinstance(self.data, bytes):
            raise ValueError(f"The data of an attachment are bytes, not {type(self.data).__name__}")

    def to_log(self) -> dict[str, Any]:
        """What a log may hold: the reference and the size, never the bytes."""
        if self.data is None:
            return {"mime": self.mime, "name": self.name, "ref": self.ref}
        ref = "sha256:" + hashlib.sha256(self.data).hexdigest()
        return {"mime": self.mime, "name": self.name, "ref": ref, "bytes": len(self.data)}

    @classmethod
    def from_log(cls, record: Mapping[str, Any]) -> Attachment:
        """The attachment of which `to_log` told; its bytes are where the reference says."""
        return cls(record["mime"], record["name"], ref=record["ref"])


@record
class Result:
    """What a tool yields: data for the model, a summary for people, markdown for the next prompt."""

    success: bool = True
    data: Any = None
    """Structured JSON value for the model."""
    summary: str | None = None
    """One sentence for people."""
    markdown: str | None = None
    """Formatted text for the next prompt."""
    error: str | None = None
    """Why it failed, in words."""
    code: str | None = None
    """The machine's name for the failure."""
    title: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    output: str | None = None
    """Text for the model; stands before data when given."""
    attachments: tuple[Attachment, ...] = ()

    @classmethod
    def fail(
        cls, error: str, *, code: str = "TOOL_FAILED", summary: str | None = None, **more: Any
    ) -> Result:
        """A failed result."""
        return cls(success=False, error=error, code=code, summary=summary, **more)

    def to_model(self, limit: int = MODEL_LIMIT, handle: str | None = None) -> str:
        """What the model reads: output, else markdown and data, else data; a failure says its error."""
        text = self.text()
        if len(text) <= limit:
            return text
        if (page := self.metadata.get(PAGE)) is not None:
            return truncate(text, min(limit, page["length"]), page["handle"], page["offset"])
        if self.code == "DUPLICATE":
            handle = self.metadata.get("duplicate_of", handle)
        return truncate(text, limit, handle)

    def text(self) -> str:
        """What the model would read if nothing had to be cut."""
        if self.success:
            if self.output is not None:
                return self.output
            if self.markdown is not None:
                return self.markdown if self.data is None else f"{self.markdown}\n{to_json(self.data)}"
            return to_json(self.data)
        failure: dict[str, Any] = {"error": self.error or "Unknown error"}
        if self.code is not None:
            failure["code"] = self.code
        if fields := self.metadata.get("fields"):
            failure["fields"] = fields
        if self.data is not None:
            failure["data"] = self.data
        before = self.output if self.output is not None else self.markdown
        return to_json(failure) if before is None else f"{before}\n{to_json(failure)}"

    def to_ui(self) -> str:
        """One line for the activity panel."""
        if line := self.summary or self.title:
            return line
        if not self.success:
            return self.error or "Failed"
        return "Done"

    def to_mcp(self, limit: int = MODEL_LIMIT, handle: str | None = None) -> dict[str, Any]:
        """The result of an MCP `tools/call`."""
        content = [_mcp_block(attachment) for attachment in self.attachments]
        if not content or not self.success or any((self.data is not None, self.output, self.markdown)):
            content.insert(0, {"type": "text", "text": self.to_model(limit, handle)})
        answer: dict[str, Any] = {"content": content, "isError": not self.success}
        if self.success and self.data is not None:
            answer["structuredContent"] = self.data
        return answer

    def to_langchain(self, limit: int = MODEL_LIMIT, handle: str | None = None) -> tuple[str, dict[str, Any]]:
        """Content for the model and the whole as the artifact."""
        return self.to_model(limit, handle), self.to_dict()

    def to_worker(self) -> dict[str, Any]:
        """The envelope of a pass-looping worker: the code stands in `error`."""
        envelope: dict[str, Any] = {"success": self.success, "summary": self.to_ui()}
        if self.data is not None:
            envelope["data"] = self.data
        if self.markdown is not None:
            envelope["markdown"] = self.markdown
        if not self.success:
            envelope["error"] = self.code if self.code not in (None, "TOOL_FAILED") else self.error
        return envelope

    def to_legacy_run(self, duration_ms: float = 0.0, run_id: str | None = None) -> dict[str, Any]:
        """The four fields `{output, error, durationMs, runId}`."""
        output = self.data if self.data is not None else self.output
        return {
            "output": output if self.success else None,
            "error": None if self.success else self.error or "Unknown error",
            "durationMs": duration_ms,
            "runId": run_id,
        }

    def to_response(self) -> ToolResponse:
        """The older, smaller envelope."""
        return ToolResponse(self.success, self.data if self.data is not None else self.output, self.error)

    def to_dict(self) -> dict[str, Any]:
        """The whole envelope as JSON data; attachments by reference, title and summary for each other."""
        envelope: dict[str, Any] = {"success": self.success, "data": self.data}
        texts = {
            "summary": self.summary or self.title,
            "markdown": self.markdown,
            "error": self.error,
            "code": self.code,
            "title": self.title or self.summary,
            "output": self.output,
        }
        envelope |= {name: text for name, text in texts.items() if text is not None}
        if self.metadata:
            envelope["metadata"] = dict(self.metadata)
        if self.attachments:
            envelope["attachments"] = [attachment.to_log() for attachment in self.attachments]
        return envelope

    @classmethod
    def from_dict(cls, envelope: Mapping[str, Any]) -> Result:
        """The result of which `to_dict` told: attachments by reference, title and summary for each other."""
        return cls(
            envelope["success"],
            envelope.get("data"),
            envelope.get("summary"),
            envelope.get("markdown"),
            envelope.get("error"),
            envelope.get("code"),
            envelope.get("title"),
            dict(envelope.get("metadata") or {}),
            envelope.get("output"),
            tuple(Attachment.from_log(item) for item in envelope.get("attachments") or ()),
        )

    def with_metadata(self, **more: Any) -> Result:
        """The same result with more metadata."""
        return replace(self, metadata={**self.metadata, **more})


make_result = constructor_of(Result)
change_result = replacer_of(Result)


@record
class ToolResponse:
    """The older result type; tools may still return it."""

    success: bool
    data: Any = None
    error: str | None = None

    def to_result(self) -> Result:
        if self.success:
            return Result(data=self.data)
        return Result.fail(self.error or "Unknown error", data=self.data)


def to_json(value: Any) -> str:
    """JSON text for a model: compact, unicode kept readable."""
    return to_json_bytes(value, inf_nan_mode="null", fallback=str).decode()


def _mcp_block(attachment: Attachment) -> dict[str, Any]:
    if attachment.data is None:
        link = {"uri": attachment.ref, "name": attachment.name, "mimeType": attachment.mime}
        return {"type": "resource_link", **link}
    kind = attachment.mime.partition("/")[0]
    resource = {"uri": f"attachment:{quote(attachment.name)}", "mimeType": attachment.mime}
    if kind == "text":
        try:
            return {"type": "resource", "resource": {**resource, "text": attachment.data.decode()}}
        except UnicodeDecodeError:
            pass
    encoded = base64.b64encode(attachment.data).decode("ascii")
    if kind in ("image", "audio"):
        return {"type": kind, "data": encoded, "mimeType": attachment.mime}
    return {"type": "resource", "resource": {**resource, "blob": encoded}}
