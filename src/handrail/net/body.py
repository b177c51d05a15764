"""The body of an HTTP response: decompressed piece by piece within a limit, and decoded to text."""

from __future__ import annotations

import codecs
import re
import zlib

from handrail.core.errors import ToolError

ACCEPT_ENCODING = "gzip, deflate"
_UNCOMPRESSED = ("", "identity")
_GZIP = ("gzip", "x-gzip")
_GZIP_MAGIC = b"\x1f\x8b"

_MAX_GZIP_MEMBERS = 1_000
"""Gzip may come in members, one behind the other; more of them than this are there to cost time."""


class ResponseTooLarge(ToolError):
    """What a server sent is larger than what is read."""

    def __init__(self, most: int, what: str = "The answer") -> None:
        super().__init__(
            f"{what} is larger than {_format_size(most)}, which is the most that is read. "
            "Ask for a smaller page.",
            code="TOO_LARGE",
        )


class Decompressor:
    """Takes pieces as they come over the wire and keeps what they hold."""

    def __init__(self, encoding: str, most: int) -> None:
        self._most = most
        self._kept = bytearray()
        self._encoding = encoding.strip().lower()
        self._head = b""
        """What came before there was enough of it to know how it is packed."""
        self._inflate: zlib._Decompress | None = None
        self._members = 0
        self._has_begun = False
        self._is_over = False
        if self._encoding not in (*_UNCOMPRESSED, "deflate", *_GZIP):
            raise ToolError(
                f"The server packed its answer as {encoding[:40]!r}, which was not asked for.",
                code="UNSUPPORTED_CONTENT",
            )

    def feed(self, piece: bytes) -> None:
        self._has_begun = self._has_begun or bool(piece)
        if self._encoding in _UNCOMPRESSED:
            self._keep(piece)
            return
        try:
            while piece and not self._is_over:
                piece = self._unpack(piece)
        except zlib.error:
            raise _corrupt_body() from None

    def done(self) -> bytes:
        """The whole body, once every piece was fed."""
        is_whole = self._encoding in _UNCOMPRESSED or (self._members and self._inflate is None)
        if self._has_begun and not is_whole:
            raise _corrupt_body()
        return bytes(self._kept)

    def _unpack(self, piece: bytes) -> bytes:
        """Keeps what a piece holds, and gives back what stands behind the end of a member."""
        if self._inflate is None:
            piece, self._head = self._head + piece, b""
            if len(piece) < len(_GZIP_MAGIC):
                self._head = piece
                return b""
            self._inflate = self._begun(piece)
            if self._inflate is None:
                self._is_over = True  # as in browsers, what is no member behind the last is not read
                return b""
        self._keep(self._inflate.decompress(piece, self._most - len(self._kept) + 1))
        if not self._inflate.eof:
            return b""
        rest, self._inflate = self._inflate.unused_data, None
        return rest

    def _begun(self, start: bytes) -> zlib._Decompress | None:
        is_gzip = self._encoding in _GZIP
        if self._members and not (is_gzip and start.startswith(_GZIP_MAGIC)):
            return None
        self._members += 1
        if self._members > _MAX_GZIP_MEMBERS:
            raise _corrupt_body()
        if is_gzip:
            return zlib.decompressobj(16 + zlib.MAX_WBITS)
        return zlib.decompressobj(zlib.MAX_WBITS if _has_zlib_header(start) else -zlib.MAX_WBITS)

    def _keep(self, piece: bytes) -> None:
        self._kept += piece
        if len(self._kept) > self._most:
            raise ResponseTooLarge(self._most)


def _format_size(count: int) -> str:
    if count >= 1_000_000:
        return f"{round(count / 1_000_000, 1):g} MB"
    return f"{round(count / 1000)} KB" if count >= 10_000 else f"{count:,} bytes"


def _has_zlib_header(start: bytes) -> bool:
    """Whether `deflate` is what the standard means by it; some servers leave out the envelope."""
    return start[0] & 0x0F == 8 and int.from_bytes(start[:2], "big") % 31 == 0


def _corrupt_body() -> ToolError:
    return ToolError(
        "The server's answer is packed in a way that cannot be unpacked.", code="CONNECTION_FAILED"
    )


_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_HEADER_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)

_PAGE_CHARSET = re.compile(
    rb"""<meta[^>]{1,500}?charset\s*=\s*["']?([\w.:-]{1,40})|<\?xml[^>]{1,200}?encoding\s*=\s*["']([\w.:-]{1,40})""",
    re.IGNORECASE,
)

_NOT_TEXT_CODECS = frozenset(
    "idna mbcs oem palmos punycode raw_unicode_escape undefined unicode_escape utf_7".split()
)

_BROWSER_CODECS = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "utf-16": "utf-16-le",
    "utf-32": "utf-32-le",
}

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u200b\u202a-\u202e\u2060-\u206f\ufeff"
    "\U000e0000-\U000e0fff]"
)
"""Characters that nobody sees and that change what is seen, or hide words from people and not from models.

Joiners and the variation selectors of emoji stay: some scripts are written with them.
"""

_SLICE = 16_384
"""Bytes or characters in one go: what decodes and what replaces lets no other thread run meanwhile."""


def decode(body: bytes, content_type: str) -> str:
    """The text, with `\\n` at the end of lines and without what nobody sees."""
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return _decode_with(body[len(mark) :], codec)
    declared = _HEADER_CHARSET.search(content_type)
    name = _text_codec(declared[1]) if declared else None
    if name is None and (match := _PAGE_CHARSET.search(body[:2048])):
        name = _text_codec((match[1] or match[2]).decode("ascii"))
        name = "utf-8" if name is not None and name.startswith(("utf-16", "utf-32")) else name
    return _decode_with(body, name or ("utf-8" if _is_utf8(body) else "cp1252"))


def remove_invisible(text: str) -> str:
    """Text without what nobody sees."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(_INVISIBLE.sub("", lines[at : at + _SLICE]) for at in range(0, len(lines), _SLICE))


def _decode_with(body: bytes, codec: str) -> str:
    decoder = codecs.getincrementaldecoder(codec)("replace")
    starts = range(0, len(body), _SLICE)
    return remove_invisible(
        "".join(decoder.decode(body[at : at + _SLICE], at == starts[-1]) for at in starts)
    )


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def is_binary(body: bytes) -> bool:
    """Whether bytes without a type are no text."""
    if body.startswith(tuple(mark for mark, _ in _BOMS)):
        return False
    return b"\0" in body[:8192]


def _text_codec(label: str) -> str | None:
    """The codec of a label, if it is one for text."""
    try:
        codec = codecs.lookup(label)
    except (LookupError, ValueError):
        return None
    if codec.name.replace("-", "_") in _NOT_TEXT_CODECS or not codec._is_text_encoding:
        return None
    return _BROWSER_CODECS.get(codec.name, codec.name)
