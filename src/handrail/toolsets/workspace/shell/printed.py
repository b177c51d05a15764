"""Printed: what a command writes to its output, kept within bounds: the beginning and the end."""

from __future__ import annotations

KEPT = 1_000_000
"""Bytes of one stream that are kept."""


class Printed:
    """One stream. The middle is left out when there is too much, and it is said how much."""

    __slots__ = ("_head", "_most", "_tail", "total")

    def __init__(self, most: int = KEPT) -> None:
        self._most = most // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = self._most - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data[-self._most :] if len(data) > self._most else data
        if len(self._tail) > 2 * self._most:
            del self._tail[: -self._most]

    @property
    def missing(self) -> int:
        """Bytes that were left out."""
        return max(0, self.total - 2 * self._most)

    def text(self) -> str:
        """As text; bytes that are none become `�`, and no character is cut in two."""
        tail = bytes(self._tail[-self._most :])
        if not self.missing:
            return (bytes(self._head) + tail).decode(errors="replace")
        head = _whole_end(bytes(self._head)).decode(errors="replace")
        end = _whole_start(tail).decode(errors="replace")
        return f"{head}\n[{self.missing:,} bytes left out here]\n{end}"


def _whole_end(data: bytes) -> bytes:
    """Without the first bytes of a character that was cut at the end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            return data
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if length > back else data
    return data


def _whole_start(data: bytes) -> bytes:
    """Without the last bytes of a character that was cut at the start."""
    at = 0
    while at < min(3, len(data)) and 0x80 <= data[at] < 0xC0:
        at += 1
    return data[at:]
