"""FileCache: what was read is not read again while the file is the same. All agents of a tenant share it."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from sys import getsizeof
from typing import Any

from handrail import Context, Result, Tool, ToolError
from handrail.toolsets.workspace.atomic_write import FileStamp
from handrail.toolsets.workspace.target_file import OpenObserver
from handrail.toolsets.workspace.workspace import Workspace

_MAX_BYTES = 16 * 1024 * 1024
_UNSETTLED = 100_000_000
"""Nanoseconds in which a file may change twice and have one time: so young a file is not kept."""
_OPEN_READS = 1_024
_ENTRY_OVERHEAD = 2_000
"""Bytes of an entry beside its texts."""

_Key = tuple[str, str, str]
"""Tenant, path as it was spelled, and all arguments."""


@dataclass(frozen=True, slots=True)
class _Entry:
    stamp: FileStamp
    result: Result
    size: int


class FileCache:
    """A hook around read_file."""

    def __init__(
        self, workspace: Workspace, most: int = _MAX_BYTES, now: Callable[[], int] = time.time_ns
    ) -> None:
        self._workspace, self._most, self._now = workspace, most, now
        self._kept: OrderedDict[_Key, _Entry] = OrderedDict()
        self._reading: OrderedDict[str, tuple[_Key, FileStamp, OpenObserver]] = OrderedDict()
        """By call: the file as it was before it was read, and the one that was."""
        self._lock = threading.Lock()
        self.size = 0
        workspace.listen(self.changed)

    def __len__(self) -> int:
        return len(self._kept)

    def watches(self, tool: Tool) -> bool:
        return tool.id == "read_file"

    async def before(self, tool: Tool, values: Any, ctx: Context, /) -> Result | None:
        stamp = self._stamp(values.path)
        if stamp is None:
            return None
        key = (ctx.tenant_id, values.path, repr(values))
        with self._lock:
            entry = self._kept.get(key)
            if entry is not None and entry.stamp == stamp:
                self._kept.move_to_end(key)
                return entry.result
            if entry is not None:
                self._drop(key)
            self._reading[f"{ctx.tenant_id}/{ctx.call_id}"] = (key, stamp, OpenObserver())
            if len(self._reading) > _OPEN_READS:
                self._reading.popitem(last=False)
        return None

    async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
        seen = self._reading.pop(f"{ctx.tenant_id}/{ctx.call_id}", None)
        if seen is None:
            return result
        key, stamp, opening = seen
        size = _size_of(key, result)
        # what changed while it was read has another stamp by now, so that nobody gets it from here
        if opening.stamp == stamp and self._is_settled(stamp) and size <= self._most // 4:
            self._keep(key, _Entry(stamp, result, size))
        return result

    def changed(self, path: str | None) -> None:
        """Forget what was read of a file; of all files when nobody knows which changed."""
        with self._lock:
            for key in [entry_key for entry_key in self._kept if path is None or entry_key[1] == path]:
                self._drop(key)

    def _stamp(self, path: str) -> FileStamp | None:
        try:
            return self._workspace.stamp(path)
        except ToolError:
            return None

    def _is_settled(self, stamp: FileStamp) -> bool:
        return max(stamp.modified, stamp.changed) + _UNSETTLED < self._now()

    def _keep(self, key: _Key, entry: _Entry) -> None:
        with self._lock:
            if key in self._kept:
                self._drop(key)
            self._kept[key] = entry
            self.size += entry.size
            while self.size > self._most:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: _Key) -> None:
        self.size -= self._kept.pop(key).size


def _size_of(key: _Key, result: Result) -> int:
    """No less than what an entry holds: a text stands in its data as well, and its path in three places."""
    attached = sum(len(attachment.data or b"") for attachment in result.attachments)
    texts = 2 * getsizeof(result.output) + 3 * getsizeof(key[1]) + getsizeof(key[2])
    return _ENTRY_OVERHEAD + texts + attached
