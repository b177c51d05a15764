"""Meaning: tools near to a question in what they are about, by vectors that somebody else computes."""

from __future__ import annotations

import asyncio
import logging
import math
from array import array
from collections.abc import Callable, Sequence
from operator import mul
from typing import Protocol, TypeAlias, runtime_checkable
from weakref import WeakKeyDictionary

from handrail.core.define.lookup import EXACT_SCORE, MAX_INEXACT_SCORE, ToolMatch
from handrail.core.define.tool import Tool, digest

_log = logging.getLogger("handrail.find")

_BATCH = 128
_TIMEOUT = 10.0
"""Seconds for one answer of the embedder."""
_COOLDOWN = 30.0
"""Seconds for which an embedder that failed is left alone."""
_MAX_ON_LOOP = 500
"""More comparisons than these are made in a thread."""
_TEXT = 2_000
_REMEMBERED = 20_000
_FUSION = 60
"""The constant of reciprocal rank fusion: how little the very first places stand out."""

Vector: TypeAlias = "array[float]"


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors whose directions are near where the texts mean nearly the same."""

    async def embed(self, texts: list[str], /) -> Sequence[Sequence[float]]:
        """One vector for each text, all of one length."""
        ...


class EmbeddingIndex:
    """The vectors of tools, made once for each digest, and the tools nearest to a question."""

    def __init__(self, embedder: Embedder, ticks: Callable[[], float], patience: float = _TIMEOUT) -> None:
        self._embedder = embedder
        self._ticks = ticks
        self._patience = patience
        self._vectors: dict[str, Vector] = {}
        self._rested = -math.inf
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    async def nearest(self, question: str, tools: Sequence[Tool], limit: int) -> list[Tool]:
        """The nearest first; none, and a line in the log, when the embedder fails or answers nonsense."""
        if self._ticks() < self._rested:
            return []
        try:
            vectors = await self._vectors_of(tools)
            [target] = await self._embed([question[:_TEXT]])
            if any(len(vector) != len(target) for vector in vectors):
                self._vectors.clear()
                raise ValueError("the vectors have different lengths")
            if len(tools) <= _MAX_ON_LOOP:
                return _nearest(target, tools, vectors, limit)
            return await asyncio.to_thread(_nearest, target, tools, vectors, limit)
        except Exception:
            _log.exception("the embedder failed; tools are found by their words alone for %g s", _COOLDOWN)
            self._rested = self._ticks() + _COOLDOWN
            return []

    async def _vectors_of(self, tools: Sequence[Tool]) -> list[Vector]:
        by_digest = {tool.digest or digest(tool): tool for tool in tools}
        lock = self._locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())
        async with lock:  # who searches at the same time waits for these, rather than ask for them too
            missing = [key for key in by_digest if key not in self._vectors]
            if len(self._vectors) + len(missing) > max(_REMEMBERED, 2 * len(by_digest)):
                self._vectors = {key: self._vectors[key] for key in by_digest if key in self._vectors}
            for start in range(0, len(missing), _BATCH):
                batch = missing[start : start + _BATCH]
                vectors = await self._embed([_text(by_digest[key]) for key in batch])
                self._vectors.update(zip(batch, vectors, strict=True))
            return [self._vectors[key] for key in (tool.digest or digest(tool) for tool in tools)]

    async def _embed(self, texts: list[str]) -> list[Vector]:
        async with asyncio.timeout(self._patience):
            answers = await self._embedder.embed(texts)
        vectors = [_unit(vector) for vector in answers]
        if len(vectors) != len(texts):
            raise ValueError(f"{len(texts)} texts were given, {len(vectors)} vectors came back")
        return vectors


def _text(tool: Tool) -> str:
    names = " ".join(tool.input_schema.get("properties") or ())
    parts = (tool.name, tool.id, tool.category or "", tool.description, tool.guidance, names)
    return "\n".join(filter(None, parts))[:_TEXT]


def _unit(vector: Sequence[float]) -> Vector:
    """The vector at length 1, so that a product of two is their cosine."""
    length = math.hypot(*vector)
    if not (math.isfinite(length) and length > 0):
        raise ValueError("a vector needs a direction; one is empty, zero or not finite")
    return array("d", [number / length for number in vector])


def _nearest(target: Vector, tools: Sequence[Tool], vectors: Sequence[Vector], limit: int) -> list[Tool]:
    cosines = [sum(map(mul, target, vector)) for vector in vectors]
    order = sorted(range(len(tools)), key=lambda slot: (-cosines[slot], tools[slot].id))
    return [tools[slot] for slot in order[:limit] if cosines[slot] > 0]


def fuse_rankings(by_words: Sequence[ToolMatch], by_meaning: Sequence[Tool]) -> list[ToolMatch]:
    """Both rankings as one, by reciprocal ranks; tools of exactly the name that was asked for stay first."""
    points: dict[Tool, float] = {}
    for ranking in ([match.tool for match in by_words], by_meaning):
        for rank, tool in enumerate(ranking, 1):
            points[tool] = points.get(tool, 0.0) + (_FUSION + 1) / (_FUSION + rank) / 2
    matched = {match.tool: dict(match.matched) for match in by_words}
    for tool in by_meaning:
        matched.setdefault(tool, {})["meaning"] = ()
    exact = [match.tool for match in by_words if match.score == EXACT_SCORE]
    others = sorted(points.keys() - set(exact), key=lambda tool: (-points[tool], tool.id))
    return [
        *(ToolMatch(tool, EXACT_SCORE, matched[tool]) for tool in exact),
        *(ToolMatch(tool, min(MAX_INEXACT_SCORE, points[tool]), matched[tool]) for tool in others),
    ]
