"""read: what a server sent as something to read, by its type: a page, text, or an attachment."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from handrail.ext import Attachment, ToolError
from handrail.toolsets.web.decoding import decode, is_binary, visible
from handrail.toolsets.web.fetching import Answer
from handrail.toolsets.web.jsontext import indented
from handrail.toolsets.web.markdown import Format, readable

ACCEPT = (
    "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.9, application/xml;q=0.8, */*;q=0.5"
)
_KIND = re.compile(r"[a-z]{1,20}/[a-z0-9.+_-]{1,80}")
_HTML = ("text/html", "application/xhtml+xml")
_TEXT = re.compile(
    r"text/.+|application/(.+\+)?(json|xml|yaml|javascript|ecmascript|toml|sql|graphql|x-sh|x-tex|x-ndjson|x-yaml"
    r"|x-javascript|x-httpd-php|jsonl|ld\+json)|image/svg\+xml|application/.+\+(json|xml|yaml)"
)
_SIGNATURES = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
    "application/pdf": re.compile(rb"%PDF-"),
}
_ENDINGS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
_ENDINGS |= {"application/pdf": "pdf"}


@dataclass(frozen=True, slots=True)
class Page:
    """What was read."""

    type: str
    title: str = ""
    text: str = ""
    is_cut: bool = False
    attachment: Attachment | None = None


def read(answer: Answer, form: Format) -> Page:
    """The answer, read by its type. What is neither text nor an image or a PDF is refused with its type."""
    header = answer.headers.get("content-type", "")
    kind = _kind(header) or _guessed(answer.body)
    if kind in _SIGNATURES:
        return _attached(kind, answer)
    if not _TEXT.fullmatch(kind) or (is_binary(answer.body) and "utf-16" not in header.lower()):
        raise ToolError(
            f"{answer.url.shown} is {kind if not _TEXT.fullmatch(kind) else 'binary data'}, "
            f"{len(answer.body):,} bytes, which is not read. Text, pages, JSON, XML, images and PDFs are.",
            code="UNSUPPORTED_CONTENT",
        )
    text = decode(answer.body, header)
    if kind in _HTML:
        page = readable(text, str(answer.url), form)
        return Page(kind, visible(page.title), visible(page.text), page.is_cut)
    if kind.endswith("json"):
        text = indented(text)
    return Page(kind, "", text)


def _attached(kind: str, answer: Answer) -> Page:
    if not _SIGNATURES[kind].match(answer.body):
        raise ToolError(
            f"{answer.url.shown} says that it is {kind}, and its bytes say that it is not.",
            code="UNSUPPORTED_CONTENT",
        )
    last = unquote(answer.url.target.partition("?")[0].rpartition("/")[2])
    stem = re.sub(r"[^\w.-]", "-", last)[:80].strip(".-").rpartition(".")[0] or "download"
    return Page(kind, attachment=Attachment(kind, f"{stem}.{_ENDINGS[kind]}", answer.body))


def _kind(header: str) -> str | None:
    """The type that a server says; words that are none are no type."""
    found = _KIND.fullmatch(header.partition(";")[0].strip().lower())
    return None if found is None else found[0]


def _guessed(body: bytes) -> str:
    """The type of what came without one."""
    start = body[:512].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
        return "text/html"
    for kind, signature in _SIGNATURES.items():
        if signature.match(body):
            return kind
    return "application/octet-stream" if is_binary(body) else "text/plain"
