"""Kinds: what a file is that is no text, by its first bytes."""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """A kind of file."""

    mime: str
    words: str


UNKNOWN = Kind("application/octet-stream", "binary data")
_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", Kind("image/png", "a PNG image")),
    (b"\xff\xd8\xff", Kind("image/jpeg", "a JPEG image")),
    (b"GIF87a", Kind("image/gif", "a GIF image")),
    (b"GIF89a", Kind("image/gif", "a GIF image")),
    (b"%PDF-", Kind("application/pdf", "a PDF document")),
    (b"BM", Kind("image/bmp", "a BMP image")),
    (b"\x00\x00\x01\x00", Kind("image/vnd.microsoft.icon", "an icon")),
    (b"II*\x00", Kind("image/tiff", "a TIFF image")),
    (b"MM\x00*", Kind("image/tiff", "a TIFF image")),
    (b"PK\x03\x04", Kind("application/zip", "a ZIP archive or an office document")),
    (b"\x1f\x8b", Kind("application/gzip", "gzip-compressed data")),
    (b"BZh", Kind("application/x-bzip2", "bzip2-compressed data")),
    (b"\xfd7zXZ\x00", Kind("application/x-xz", "xz-compressed data")),
    (b"\x28\xb5\x2f\xfd", Kind("application/zstd", "zstd-compressed data")),
    (b"7z\xbc\xaf\x27\x1c", Kind("application/x-7z-compressed", "a 7z archive")),
    (b"\x7fELF", Kind("application/x-elf", "an ELF program or library")),
    (b"MZ", Kind("application/vnd.microsoft.portable-executable", "a Windows program or library")),
    (b"\xca\xfe\xba\xbe", Kind("application/java-vm", "Java bytecode or a macOS program")),
    (b"\xcf\xfa\xed\xfe", Kind("application/x-mach-binary", "a macOS program")),
    (b"\x00asm", Kind("application/wasm", "WebAssembly")),
    (b"SQLite format 3\x00", Kind("application/vnd.sqlite3", "a SQLite database")),
    (b"ID3", Kind("audio/mpeg", "an MP3 recording")),
    (b"OggS", Kind("audio/ogg", "an Ogg recording")),
    (b"fLaC", Kind("audio/flac", "a FLAC recording")),
    (b"wOFF", Kind("font/woff", "a font")),
    (b"wOF2", Kind("font/woff2", "a font")),
)
_RIFF = {b"WEBP": Kind("image/webp", "a WebP image"), b"WAVE": Kind("audio/wav", "a WAV recording")}
ATTACHED = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"})
"""What models can look at."""


def kind_of(head: bytes) -> Kind:
    """What begins like this."""
    if head.startswith(b"RIFF") and (riff := _RIFF.get(head[8:12])) is not None:
        return riff
    if head[4:8] == b"ftyp":
        return Kind("video/mp4", "an MP4 recording")
    if head[257:262] == b"ustar":
        return Kind("application/x-tar", "a tar archive")
    return next((kind for beginning, kind in _BEGINNINGS if head.startswith(beginning)), UNKNOWN)
