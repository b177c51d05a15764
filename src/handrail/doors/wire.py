"""Wire: HTTP as uvicorn reads it, with a bound on all that is no body: headers, trailers, sizes of chunks."""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD = 64 * 1024
"""Bytes that may come without a piece of a body, beside what one read brings."""


class Wire(HttpToolsProtocol):
    """One connection. The parser keeps a header until it ends, so one without an end must be cut off."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._aside: int | None = None
        """How much has come since the last piece of a body; None while a body is read."""
        self._began = False

    def data_received(self, data: bytes) -> None:
        self._began = False
        super().data_received(data)
        if self._aside is not None and not self._began:
            self._aside += len(data)
            if self._aside > HEAD:
                self._cut_off()

    def on_message_begin(self) -> None:
        self._begin()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._aside = None
        super().on_headers_complete()

    def on_chunk_header(self) -> None:
        self._begin()

    def on_chunk_complete(self) -> None:
        self._begin()

    def on_body(self, body: bytes) -> None:
        self._aside = None
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._aside = None
        super().on_message_complete()

    def _cut_off(self) -> None:
        if self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.close()  # too late for words
        else:
            self.send_400_response("The headers of a request are too large.")

    def _begin(self) -> None:
        self._aside, self._began = 0, True
