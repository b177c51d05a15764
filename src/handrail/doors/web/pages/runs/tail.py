"""tail: the end of a story that goes on. Script adds what is new; without it one looks again."""

from __future__ import annotations

from collections.abc import Sequence

import htpy as h


def tail(source: str, topics: Sequence[str], last: int) -> h.Element:
    """Adds the lines after `last` to the story before it, whenever one of the topics is told."""
    return h.Element("run-tail")(data_src=source, data_topics=" ".join((*topics, "hello")), data_last=last)
