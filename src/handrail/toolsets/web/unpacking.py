"""Unpacker: a compressed body, piece by piece, never more of it than is allowed."""

from __future__ import annotations

import zlib

from handrail.ext import ToolError

ACCEPTED = "gzip, deflate"
_PLAIN = ("", "identity")
_GZIP = ("gzip", "x-gzip")
_MEMBER = b"\x1f\x8b"
_MOST_MEMBERS = 1_000
"""Gzip may come in members, one behind the other; more of them than this are there to cost time."""


class TooLarge(ToolError):
    """What a server sent is larger than what is read."""

    def __init__(self, most: int, what: str = "The answer") -> None:
        super().__init__(
            f"{what} is larger than {_size(most)}, which is the most that is read. Ask for a smaller page.",
            code="TOO_LARGE",
        )


class Unpacker:
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
        if self._encoding not in (*_PLAIN, "deflate", *_GZIP):
            raise ToolError(
                f"The server packed its answer as {encoding[:40]!r}, which was not asked for.",
                code="UNSUPPORTED_CONTENT",
            )

    def feed(self, piece: bytes) -> None:
        self._has_begun = self._has_begun or bool(piece)
        if self._encoding in _PLAIN:
            self._keep(piece)
            return
        try:
            while piece and not self._is_over:
                piece = self._unpack(piece)
        except zlib.error:
            raise _broken() from None

    def done(self) -> bytes:
        """The whole body, once every piece was fed."""
        is_whole = self._encoding in _PLAIN or (self._members and self._inflate is None)
        if self._has_begun and not is_whole:
            raise _broken()
        return bytes(self._kept)

    def _unpack(self, piece: bytes) -> bytes:
        """Keeps what a piece holds, and gives back what stands behind the end of a member."""
        if self._inflate is None:
            piece, self._head = self._head + piece, b""
            if len(piece) < len(_MEMBER):
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
        if self._members and not (is_gzip and start.startswith(_MEMBER)):
            return None
        self._members += 1
        if self._members > _MOST_MEMBERS:
            raise _broken()
        if is_gzip:
            return zlib.decompressobj(16 + zlib.MAX_WBITS)
        return zlib.decompressobj(zlib.MAX_WBITS if _has_envelope(start) else -zlib.MAX_WBITS)

    def _keep(self, piece: bytes) -> None:
        self._kept += piece
        if len(self._kept) > self._most:
            raise TooLarge(self._most)


def _size(count: int) -> str:
    if count >= 1_000_000:
        return f"{round(count / 1_000_000, 1):g} MB"
    return f"{round(count / 1000)} KB" if count >= 10_000 else f"{count:,} bytes"


def _has_envelope(start: bytes) -> bool:
    """Whether `deflate` is what the standard means by it; some servers leave out the envelope."""
    return start[0] & 0x0F == 8 and int.from_bytes(start[:2], "big") % 31 == 0


def _broken() -> ToolError:
    return ToolError(
        "The server's answer is packed in a way that cannot be unpacked.", code="CONNECTION_FAILED"
    )
