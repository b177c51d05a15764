"""The canary: a word that each key has sealed, so that a wrong or lost key is found when a database opens."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import select, update
from sqlalchemy.engine import Connection

from handrail.core.find.visibility import DEFAULT_TENANT_ID
from handrail.store.keyring import open_seal
from handrail.store.sealing import LostKey, Seal
from handrail.store.tables import settings
from handrail.store.text import dump, load
from handrail.store.upsert import insert_new

_NAME = "seal"
_WORD = "handrail"


def prove_keys(conn: Connection, file: Path, environ: Mapping[str, str] = os.environ) -> Seal:
    """The seal of this database, with keys that open all that was sealed in it; raises `LostKey` otherwise.

    The first to open a database says which key seals it. Another one, such as a second machine that made a
    key of its own, is refused rather than let in with a key that opens nothing.
    """
    seal = open_seal(file, known_keys(conn), environ)
    if insert_new(conn, settings, {"name": _NAME, "value": dump(_sealed(seal))}):
        return seal
    canaries = _canaries(conn)
    if lost := set(canaries) - seal.key_ids:
        raise LostKey(
            f"This database is sealed with the key {' and '.join(sorted(lost))}, "
            "and this process has another. Give the same HANDRAIL_KEY, or a copy of the same key file, "
            "to every process that opens it."
        )
    for canary in canaries.values():
        seal.open(DEFAULT_TENANT_ID, canary, _NAME)
    if seal.newest not in canaries:
        value = dump({**canaries, **_sealed(seal)})
        conn.execute(update(settings).where(settings.c.name == _NAME).values(value=value))
    return seal


def known_keys(conn: Connection) -> frozenset[str]:
    """The ids of the keys that have sealed something here."""
    return frozenset(_canaries(conn))


def retire_key(conn: Connection, key_id: str) -> bool:
    """Let a key go of which nothing is left that it sealed. From then on the database opens without it."""
    canaries = _canaries(conn)
    if canaries.pop(key_id, None) is None:
        return False
    conn.execute(update(settings).where(settings.c.name == _NAME).values(value=dump(canaries)))
    return True


def _canaries(conn: Connection) -> dict[str, str]:
    wanted = select(settings.c.value).where(settings.c.name == _NAME).with_for_update()
    value = conn.execute(wanted).scalar()
    return {} if value is None else dict(load(value))


def _sealed(seal: Seal) -> dict[str, str]:
    return {seal.newest: seal.close(DEFAULT_TENANT_ID, _WORD, _NAME)}
