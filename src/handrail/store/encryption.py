"""Encryption at rest: the seal, where its keys come from, and the proof that they fit the database."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import secrets
import stat
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.engine import Connection

from handrail.core.errors import UsageError
from handrail.core.find.visibility import DEFAULT_TENANT_ID
from handrail.store.codec import dump, load
from handrail.store.statements import insert_if_absent
from handrail.store.tables.operations import settings

KEY_BYTES = 32
_VERSION = b"\x01"
_NONCE_BYTES = 12
_ID_BYTES = 6


class SealError(UsageError):
    """What is sealed cannot be opened."""


class MissingKey(SealError):
    """The key that sealed this is not here. Give it back in HANDRAIL_KEY or in the key file."""


def key_id(key: bytes) -> str:
    """What a key is called: it says nothing of the key."""
    return hashlib.sha256(b"handrail key id" + key).digest()[:_ID_BYTES].hex()


class Seal:
    """Encrypts with the newest key, decrypts with every one it has."""

    __slots__ = ("_keys", "newest")

    def __init__(self, keys: Iterable[bytes]) -> None:
        key_list = list(keys)
        if not key_list or any(len(key) != KEY_BYTES for key in key_list):
            raise SealError(f"A seal needs keys of {KEY_BYTES} bytes, the newest one first.")
        self._keys = {key_id(key): key for key in key_list}
        self.newest = key_id(key_list[0])
        """The id of the key that closes."""

    @property
    def key_ids(self) -> frozenset[str]:
        """The ids of the keys that open."""
        return frozenset(self._keys)

    def close(self, tenant: str, value: Any, about: str = "") -> str:
        """JSON data as text that only this tenant's rows can hold, and only about the same thing."""
        written = json.dumps(value, separators=(",", ":"), allow_nan=False)
        head = _VERSION + bytes.fromhex(self.newest)
        nonce = os.urandom(_NONCE_BYTES)
        cipher = _cipher(self._keys[self.newest])
        locked: bytes = cipher.encrypt(nonce, written.encode(), _associated_data(head, tenant, about))
        return base64.urlsafe_b64encode(head + nonce + locked).decode("ascii")

    def open(self, tenant: str, sealed: str, about: str = "") -> Any:
        """What was closed; raises when it was changed, moved, or its key is not here."""
        from cryptography.exceptions import InvalidTag

        head, nonce, locked = _split_sealed(sealed)
        key = self._keys.get(head[1:].hex())
        if key is None:
            key_ids = ", ".join(sorted(self._keys))
            raise MissingKey(
                f"This was sealed with the key {head[1:].hex()}, which is not here (here: {key_ids}). "
                "Give that key back, after the newest one, in HANDRAIL_KEY or in the key file."
            )
        try:
            opened: bytes = _cipher(key).decrypt(nonce, locked, _associated_data(head, tenant, about))
        except InvalidTag:
            raise SealError(
                "What is sealed here was changed, or belongs to another place. Nothing was opened."
            ) from None
        return json.loads(opened)

    def derived(self, purpose: str) -> bytes:
        """A key for something else, made of the newest one: the same in every process that has it."""
        return hmac.digest(self._keys[self.newest], f"handrail: {purpose}".encode(), "sha256")

    def __repr__(self) -> str:
        return f"Seal({self.newest})"


def _cipher(key: bytes) -> Any:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # heavy: only where something is sealed

    return AESGCM(key)


def _associated_data(head: bytes, tenant: str, about: str) -> bytes:
    """What stands beside the text and cannot be exchanged: each part with its length."""
    parts = (tenant.encode("utf-8", "surrogatepass"), about.encode("utf-8", "surrogatepass"))
    return head + b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def _split_sealed(sealed: str) -> tuple[bytes, bytes, bytes]:
    try:
        raw = base64.b64decode(sealed.encode("ascii"), altchars=b"-_", validate=True)
    except ValueError:
        raw = b""
    end_of_head = 1 + _ID_BYTES
    if len(raw) < end_of_head + _NONCE_BYTES or raw[:1] != _VERSION:
        raise SealError("This is not something that Handrail sealed. Nothing was opened.")
    end_of_nonce = end_of_head + _NONCE_BYTES
    return raw[:end_of_head], raw[end_of_head:end_of_nonce], raw[end_of_nonce:]


KEY_VARIABLE = "HANDRAIL_KEY"

_KEY_FORMAT = (
    f"A key is {KEY_BYTES} random bytes in base64 or hex; several are parted by commas, the newest first. "
    'Make one with: python -c "import secrets; print(secrets.token_hex(32))"'
)


def parse_keys(text: str, where: str) -> list[bytes]:
    """The keys in a text, the newest first. What is wrong is said without showing any of it."""
    words = [word for line in text.splitlines() for word in line.partition("#")[0].replace(",", " ").split()]
    keys = [_parse_key(word) for word in words]
    if not keys:
        raise UsageError(f"{where} holds no key. {_KEY_FORMAT}")
    for number, key in enumerate(keys, 1):
        if key is None:
            which = f"key {number} of {len(keys)} in {where}" if len(keys) > 1 else where
            raise UsageError(f"{which} is not {KEY_BYTES} bytes in base64 or hex. {_KEY_FORMAT}")
    return [key for key in keys if key is not None]


def _parse_key(word: str) -> bytes | None:
    if len(word) == 2 * KEY_BYTES:
        try:
            return bytes.fromhex(word)
        except ValueError:
            return None
    try:
        padded = word + "=" * (-len(word) % 4)
        key = base64.b64decode(padded.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        return None
    return key if len(key) == KEY_BYTES else None


def load_seal(file: Path, known: Collection[str], environ: Mapping[str, str] = os.environ) -> Seal:
    """The seal of a database. `known` are the ids of the keys that sealed something in it.

    A key is made only where nothing was sealed yet: a new one in the place of a lost one would look as if
    all were well, and open nothing.
    """
    if text := environ.get(KEY_VARIABLE, "").strip():
        return _with_known_keys(Seal(parse_keys(text, KEY_VARIABLE)), known, KEY_VARIABLE)
    if not file.exists() and known:
        raise MissingKey(
            f"This database holds what was sealed with the key {' and '.join(sorted(known))}, "
            f"but {KEY_VARIABLE} is not set and there is no key file {file}. Put the key back: "
            "without it the arguments of waiting calls, dead letters and secrets cannot be read."
        )
    if not file.exists():
        create_key_file(file)
    return _with_known_keys(Seal(parse_keys(_read_key_file(file), str(file))), known, str(file))


def create_key_file(file: Path) -> None:
    """Write a new key, whole or not at all. Of several processes at once, one makes it."""
    _write_key_file(file, secrets.token_hex(KEY_BYTES) + "\n", replace=False)


def rotate_key_file(file: Path) -> str:
    """Put a new key before those of the file; the newest seals, the older ones still open. Its id."""
    older = _read_key_file(file)
    parse_keys(older, str(file))
    _write_key_file(file, f"{secrets.token_hex(KEY_BYTES)}\n{older}", replace=True)
    return Seal(parse_keys(_read_key_file(file), str(file))).newest


def _with_known_keys(seal: Seal, known: Collection[str], where: str) -> Seal:
    if lost := set(known) - seal.key_ids:
        raise MissingKey(
            f"This database holds what was sealed with the key {' and '.join(sorted(lost))}, which is not in "
            f"{where} (there: {', '.join(sorted(seal.key_ids))}). Add it after the newest one."
        )
    return seal


def _read_key_file(file: Path) -> str:
    """The file's text, read through one handle, so that what was checked is what is read."""
    try:
        with file.open(encoding="utf-8") as opened:
            state = os.fstat(opened.fileno())
            if os.name == "posix" and stat.S_IMODE(state.st_mode) & 0o077:
                mode = f"{stat.S_IMODE(state.st_mode):o}"
                raise UsageError(
                    f"Others can read the key file {file} (mode {mode}), so it is not used. "
                    f"If nobody has read it, close it with: chmod 600 {file}"
                )
            return opened.read()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The key file {file} cannot be read: {error}") from error


def _write_key_file(file: Path, text: str, *, replace: bool) -> None:
    """By way of a file beside it, since a link or a rename happens at once."""
    draft = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as opened:
                opened.write(text)
                opened.flush()
                os.fsync(opened.fileno())
            if replace:
                draft.replace(file)
            else:
                with suppress(FileExistsError):  # another process was faster: its key holds
                    os.link(draft, file)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"The key file {file} cannot be written: {error}") from error


_CANARY = "seal"
_CANARY_TEXT = "handrail"


def verified_seal(conn: Connection, file: Path, environ: Mapping[str, str] = os.environ) -> Seal:
    """The seal of this database, with every key that sealed something in it; else raises `MissingKey`.

    The first to open a database says which key seals it. Another one, such as a second machine that made a
    key of its own, is refused rather than let in with a key that opens nothing.
    """
    seal = load_seal(file, known_key_ids(conn), environ)
    if insert_if_absent(conn, settings, {"name": _CANARY, "value": dump(_new_canary(seal))}):
        return seal
    canaries = _canaries(conn)
    if lost := set(canaries) - seal.key_ids:
        raise MissingKey(
            f"This database is sealed with the key {' and '.join(sorted(lost))}, "
            "and this process has another. Give the same HANDRAIL_KEY, or a copy of the same key file, "
            "to every process that opens it."
        )
    for canary in canaries.values():
        seal.open(DEFAULT_TENANT_ID, canary, _CANARY)
    if seal.newest not in canaries:
        value = dump({**canaries, **_new_canary(seal)})
        conn.execute(update(settings).where(settings.c.name == _CANARY).values(value=value))
    return seal


def known_key_ids(conn: Connection) -> frozenset[str]:
    """The ids of the keys that have sealed something here."""
    return frozenset(_canaries(conn))


def retire_key(conn: Connection, key_id: str) -> bool:
    """Drop a key that sealed nothing which is left. From then on the database opens without it."""
    canaries = _canaries(conn)
    if canaries.pop(key_id, None) is None:
        return False
    conn.execute(update(settings).where(settings.c.name == _CANARY).values(value=dump(canaries)))
    return True


def _canaries(conn: Connection) -> dict[str, str]:
    query = select(settings.c.value).where(settings.c.name == _CANARY).with_for_update()
    value = conn.execute(query).scalar()
    return {} if value is None else dict(load(value))


def _new_canary(seal: Seal) -> dict[str, str]:
    return {seal.newest: seal.close(DEFAULT_TENANT_ID, _CANARY_TEXT, _CANARY)}
