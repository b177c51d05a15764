"""File content: bytes as text and back, with nothing lost, and the type of what is no text."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import NamedTuple

from handrail import ToolError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_UNMARKED = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
"""Encodings that write a mark, and how a file is written that has none."""

_NOT_FOR_FILES = frozenset({"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"})
"""Encodings for something else than files."""
_HEAD_BYTES = 8_192
_CONTROLS = bytes(range(32))
_PRINTABLE = bytes(byte for byte in range(32) if byte in b"\t\n\r\f\b\x1b")


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A text, and how it was written down."""

    text: str
    """With the line ends of the file."""
    encoding: str = "utf-8"
    mark: bytes = b""
    """The byte order mark."""

    @property
    def newline(self) -> str:
        """The line end that most lines have."""
        crlf = self.text.count("\r\n")
        return "\r\n" if crlf * 2 > self.text.count("\n") else "\n"

    def has_encoding(self, encoding: str) -> bool:
        """Whether this is the encoding, or one of those, that a name stands for."""
        name = codec_name(encoding)
        return name == self.encoding or (
            bool(self.mark) and self.encoding.startswith(name.removesuffix("-sig"))
        )

    def with_text(self, text: str) -> DecodedText:
        """Another text, written down in the same way."""
        return DecodedText(text, self.encoding, self.mark)


def byte_order_mark(data: bytes) -> tuple[bytes, str] | None:
    """The byte order mark at the beginning and the encoding that it names."""
    return next((mark for mark in _MARKS if data.startswith(mark[0])), None)


def decode(data: bytes, encoding: str = "utf-8", path: str = "The file") -> DecodedText:
    """The text. A byte order mark counts more than the encoding that is asked for."""
    marked = byte_order_mark(data)
    requested = codec_name(encoding)
    mark, name = marked if marked is not None else (b"", _UNMARKED.get(requested, requested))
    try:
        return DecodedText(data[len(mark) :].decode(name), name, mark)
    except UnicodeDecodeError as error:
        raise ToolError(
            f"{path} is not {name}: byte {len(mark) + error.start} does not fit. "
            "Name its encoding, such as encoding='latin-1'.",
            code="WRONG_ENCODING",
        ) from None


def encode(text: DecodedText, path: str = "The file") -> bytes:
    """The bytes of the text."""
    try:
        return text.mark + text.text.encode(text.encoding)
    except UnicodeEncodeError as error:
        raise ToolError(
            f"{path} is written in {text.encoding}, which has no {error.object[error.start]!r} "
            f"(character {error.start}). Leave it out, or write the whole file anew with encoding='utf-8'.",
            code="WRONG_ENCODING",
        ) from None


def codec_name(encoding: str) -> str:
    """The name of an encoding that turns bytes into text."""
    try:
        codec = codecs.lookup(encoding)
    except (LookupError, ValueError):
        codec = None
    if codec is None or codec.name in _NOT_FOR_FILES or not getattr(codec, "_is_text_encoding", True):
        raise ToolError(
            f"There is no encoding {encoding!r}. Usual ones are utf-8, utf-16, latin-1 and cp1252.",
            code="WRONG_ENCODING",
        )
    return codec.name


def check_round_trip(text: DecodedText, data: bytes, path: str) -> DecodedText:
    """The text, if it can be written back as it was read: some encodings write one character in two ways."""
    if text.encoding != "utf-8" and encode(text, path) != data:
        raise ToolError(
            f"{path} would not keep its other bytes when it is written in {text.encoding}. "
            "Nothing was changed. Is it another encoding? Otherwise write the whole file anew in utf-8.",
            code="WRONG_ENCODING",
        )
    return text


def decode_leniently(data: bytes) -> str | None:
    """A text to look at, whatever its encoding; None for what is none."""
    if is_binary(data):
        return None
    try:
        return decode(data).text
    except ToolError:
        return data.decode("latin-1")


def is_text(data: bytes, encoding: str) -> bool:
    """Whether a file may be text in this encoding. In those with wide characters it may look binary."""
    return codec_name(encoding).startswith(("utf-16", "utf-32")) or not is_binary(data)


def is_binary(data: bytes) -> bool:
    """Whether the beginning of a file looks like no text in any usual encoding."""
    head = data[:_HEAD_BYTES]
    if not head or byte_order_mark(head) is not None:
        return False
    if b"\0" in head:
        return True
    strange = len(head) - len(head.translate(None, _CONTROLS.translate(None, _PRINTABLE)))
    return strange * 10 > len(head)


class FileType(NamedTuple):
    """A kind of file."""

    mime: str
    words: str


UNKNOWN_TYPE = FileType("application/octet-stream", "binary data")

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", FileType("image/png", "a PNG image")),
    (b"\xff\xd8\xff", FileType("image/jpeg", "a JPEG image")),
    (b"GIF87a", FileType("image/gif", "a GIF image")),
    (b"GIF89a", FileType("image/gif", "a GIF image")),
    (b"%PDF-", FileType("application/pdf", "a PDF document")),
    (b"BM", FileType("image/bmp", "a BMP image")),
    (b"\x00\x00\x01\x00", FileType("image/vnd.microsoft.icon", "an icon")),
    (b"II*\x00", FileType("image/tiff", "a TIFF image")),
    (b"MM\x00*", FileType("image/tiff", "a TIFF image")),
    (b"PK\x03\x04", FileType("application/zip", "a ZIP archive or an office document")),
    (b"\x1f\x8b", FileType("application/gzip", "gzip-compressed data")),
    (b"BZh", FileType("application/x-bzip2", "bzip2-compressed data")),
    (b"\xfd7zXZ\x00", FileType("application/x-xz", "xz-compressed data")),
    (b"\x28\xb5\x2f\xfd", FileType("application/zstd", "zstd-compressed data")),
    (b"7z\xbc\xaf\x27\x1c", FileType("application/x-7z-compressed", "a 7z archive")),
    (b"\x7fELF", FileType("application/x-elf", "an ELF program or library")),
    (b"MZ", FileType("application/vnd.microsoft.portable-executable", "a Windows program or library")),
    (b"\xca\xfe\xba\xbe", FileType("application/java-vm", "Java bytecode or a macOS program")),
    (b"\xcf\xfa\xed\xfe", FileType("application/x-mach-binary", "a macOS program")),
    (b"\x00asm", FileType("application/wasm", "WebAssembly")),
    (b"SQLite format 3\x00", FileType("application/vnd.sqlite3", "a SQLite database")),
    (b"ID3", FileType("audio/mpeg", "an MP3 recording")),
    (b"OggS", FileType("audio/ogg", "an Ogg recording")),
    (b"fLaC", FileType("audio/flac", "a FLAC recording")),
    (b"wOFF", FileType("font/woff", "a font")),
    (b"wOF2", FileType("font/woff2", "a font")),
)
_RIFF = {b"WEBP": FileType("image/webp", "a WebP image"), b"WAVE": FileType("audio/wav", "a WAV recording")}

ATTACHABLE = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"})
"""What models can look at."""


def file_type(head: bytes) -> FileType:
    """What begins like this."""
    if head.startswith(b"RIFF") and (riff := _RIFF.get(head[8:12])) is not None:
        return riff
    if head[4:8] == b"ftyp":
        return FileType("video/mp4", "an MP4 recording")
    if head[257:262] == b"ustar":
        return FileType("application/x-tar", "a tar archive")
    return next((kind for beginning, kind in _SIGNATURES if head.startswith(beginning)), UNKNOWN_TYPE)
