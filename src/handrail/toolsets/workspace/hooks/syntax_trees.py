"""SyntaxTrees: what parsing a file yielded, kept until the file changes."""

from __future__ import annotations

import threading
from collections import OrderedDict

from handrail.ext import ToolError
from handrail.toolsets.workspace.desk import Workspace
from handrail.toolsets.workspace.hooks.languages import check_of
from handrail.toolsets.workspace.hooks.parsing import parse
from handrail.toolsets.workspace.hooks.problems import Parsed

LARGEST = 1024 * 1024
"""A larger file is not parsed: that takes long, and few are written by hand."""
_MOST = 64


class SyntaxTrees:
    """The parsed files of a workspace, the most recent ones."""

    def __init__(self, workspace: Workspace, most: int = _MOST) -> None:
        self._workspace, self._most = workspace, most
        self._kept: OrderedDict[str, tuple[int, Parsed]] = OrderedDict()
        """By path: the hash of the bytes, and what they yielded."""
        self._lock = threading.Lock()
        workspace.listen(self.changed)

    def __contains__(self, path: str) -> bool:
        return path in self._kept

    async def of(self, path: str) -> tuple[bytes, Parsed] | None:
        """The bytes of a file and what parsing them yields; None for what is not parsed."""
        check = check_of(path)
        if check is None:
            return None
        try:
            data = self._workspace.read(path, LARGEST + 1)
        except ToolError:
            return None
        if len(data) > LARGEST:
            return None
        same = hash(data)
        with self._lock:
            kept = self._kept.get(path)
            if kept is not None and kept[0] == same:
                self._kept.move_to_end(path)
                return data, kept[1]
        parsed = await parse(check, data)
        with self._lock:
            self._kept[path] = (same, parsed)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return data, parsed

    def changed(self, path: str | None) -> None:
        """Drop the tree of a file; all of them when nobody knows which changed."""
        with self._lock:
            if path is None:
                self._kept.clear()
            else:
                self._kept.pop(path, None)
