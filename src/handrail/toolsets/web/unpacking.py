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
        self._inflate = None
        if self._encoding in _GZIP:
            self._inflate = zlib.decompressobj(16 + zlib.MAX_WBITS)
        elif self._encoding == "deflate":
            self._inflate = zlib.decompressobj()
        elif self._encoding not in ("", "identity"):
            raise ToolError(
                f"The server packed its answer as {encoding[:40]!r}, which was not asked for.",
                code="UNSUPPORTED_CONTENT",
            )
        self._begun = False

    def feed(self, piece: bytes) -> None:
        if self._inflate is None:
            self._keep(piece)
            return
        try:
            self._unpack(piece)
        except zlib.error:
            if self._encoding != "deflate" or self._begun:
                raise _broken() from None
            self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)  # some servers leave out the envelope
            self._begun = True
            try:
                self._unpack(piece)
            except zlib.error:
                raise _broken() from None

    def done(self) -> bytes:
        """The whole body, once every piece was fed."""
        if self._inflate is not None and self._begun and not self._inflate.eof:
            raise _broken()
        return bytes(self._kept)

    def _unpack(self, piece: bytes) -> None:
        assert self._inflate is not None
        while piece and not self._inflate.eof:
            self._keep(self._inflate.decompress(piece, self._most - len(self._kept) + 1))
            self._begun = True
            piece = self._inflate.unconsumed_tail

    def _keep(self, piece: bytes) -> None:
        self._kept += piece
        if len(self._kept) > self._most:
            raise TooLarge(self._most)


def _broken() -> ToolError:
    return ToolError("The server's answer is packed in a way that cannot be unpacked.", code="CONNECTION_FAILED")
