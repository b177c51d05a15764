"""Unpacker: a compressed body, piece by piece, never more of it than is allowed."""

from __future__ import annotations

import zlib

from handrail.ext import ToolError

ACCEPTED = "gzip, deflate"
_GZIP = ("gzip", "x-gzip")


class TooLarge(ToolError):
    """What a server sent is larger than what is read."""

    def __init__(self, most: int) -> None:
        size = f"{most / 1_000_000:g} MB" if most >= 100_000 else f"{most} bytes"
        super().__init__(
            f"The answer is larger than {size}, which is the most that is read. Ask for a smaller page.",
            code="TOO_LARGE",
        )


class Unpacker:
    """Takes pieces as they come over the wire and keeps what they hold."""

    def __init__(self, encoding: str, most: int) -> None:
        self._most = most
        self._kept = bytearray()
        self._encoding = encoding.strip().lower()
        self._has_begun = False
        self._head = b""
        """What came before there was enough of it to know how it is packed."""
        self._inflate = zlib.decompressobj(16 + zlib.MAX_WBITS) if self._encoding in _GZIP else None
        if self._encoding not in ("", "identity", "deflate", *_GZIP):
            raise ToolError(
                f"The server packed its answer as {encoding[:40]!r}, which was not asked for.",
                code="UNSUPPORTED_CONTENT",
            )

    def feed(self, piece: bytes) -> None:
        self._has_begun = self._has_begun or bool(piece)
        if self._encoding in ("", "identity"):
            self._keep(piece)
            return
        if self._inflate is None:
            piece = self._head = self._head + piece
            if len(piece) < 2:
                return
            self._inflate = zlib.decompressobj(zlib.MAX_WBITS if _has_envelope(piece) else -zlib.MAX_WBITS)
        try:
            while piece and not self._inflate.eof:
                self._keep(self._inflate.decompress(piece, self._most - len(self._kept) + 1))
                piece = self._inflate.unconsumed_tail
        except zlib.error:
            raise _broken() from None

    def done(self) -> bytes:
        """The whole body, once every piece was fed."""
        if (
            self._has_begun
            and self._encoding not in ("", "identity")
            and (self._inflate is None or not self._inflate.eof)
        ):
            raise _broken()
        return bytes(self._kept)

    def _keep(self, piece: bytes) -> None:
        self._kept += piece
        if len(self._kept) > self._most:
            raise TooLarge(self._most)


def _has_envelope(start: bytes) -> bool:
    """Whether `deflate` is what the standard means by it; some servers leave out the envelope."""
    return start[0] & 0x0F == 8 and int.from_bytes(start[:2], "big") % 31 == 0


def _broken() -> ToolError:
    return ToolError(
        "The server's answer is packed in a way that cannot be unpacked.", code="CONNECTION_FAILED"
    )
