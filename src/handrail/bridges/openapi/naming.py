"""Names: each operation gets the id of a tool; those that would share one are told apart by their paths."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

from handrail.ext import slug_of

Spelled = tuple[str, str, str | None]
"""Method, path, operationId."""

_ODD = re.compile(r"[^A-Za-z0-9_]+")
_HOLE = re.compile(r"\{([^{}]*)\}")
_LONGEST = 60


def tool_ids(prefix: str, operations: Sequence[Spelled]) -> list[str]:
    """An id for each operation, whatever stands around it: `petstore.listPets`, `petstore.get_pets_by_id`."""
    plain = [f"{prefix}.{_name(*one)}" for one in operations]
    times = Counter(map(slug_of, plain))
    return [
        name if times[slug_of(name)] == 1 else f"{name}_{_digest(method, path)}"
        for name, (method, path, _) in zip(plain, operations, strict=True)
    ]


def _name(method: str, path: str, operation_id: str | None) -> str:
    words = operation_id or f"{method} {_HOLE.sub(lambda hole: f'by {hole[1]}', path)}"
    name = _ODD.sub("_", words).strip("_")
    if not name or not slug_of(name):
        return f"{method}_{_digest(method, path)}"
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST].rstrip('_')}_{_digest(method, path)}"


def _digest(method: str, path: str) -> str:
    return hashlib.sha256(f"{method} {path}".encode()).hexdigest()[:8]
