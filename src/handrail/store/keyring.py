"""Where the keys of the seal come from: HANDRAIL_KEY, or a file that only its owner can read."""

from __future__ import annotations

import base64
import binascii
import os
import secrets
import stat
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from handrail.core.errors import UsageError
from handrail.store.sealing import KEY_BYTES, LostKey, Seal

VARIABLE = "HANDRAIL_KEY"
_HOW = (
    f"A key is {KEY_BYTES} random bytes in base64 or hex; several are parted by commas, the newest first. "
    'Make one with: python -c "import secrets; print(secrets.token_hex(32))"'
)


def read_keys(text: str, where: str) -> list[bytes]:
    """The keys in a text, the newest first. What is wrong is said without showing any of it."""
    words = [word for line in text.splitlines() for word in line.partition("#")[0].replace(",", " ").split()]
    keys = [_read_key(word) for word in words]
    if not keys:
        raise UsageError(f"{where} holds no key. {_HOW}")
    for number, key in enumerate(keys, 1):
        if key is None:
            which = f"key {number} of {len(keys)} in {where}" if len(keys) > 1 else where
            raise UsageError(f"{which} is not {KEY_BYTES} bytes in base64 or hex. {_HOW}")
    return [key for key in keys if key is not None]


def _read_key(word: str) -> bytes | None:
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


def open_seal(file: Path, known: Collection[str], environ: Mapping[str, str] = os.environ) -> Seal:
    """The seal of a database. `known` are the ids of the keys that sealed something in it.

    A key is made only where nothing was sealed yet: a new one in the place of a lost one would look as if
    all were well, and open nothing.
    """
    if given := environ.get(VARIABLE, "").strip():
        return _fitting(Seal(read_keys(given, VARIABLE)), known, VARIABLE)
    if not file.exists() and known:
        raise LostKey(
            f"This database holds what was sealed with the key {' and '.join(sorted(known))}, "
            f"but {VARIABLE} is not set and there is no key file {file}. Put the key back: "
            "without it the arguments of waiting calls, dead letters and secrets cannot be read."
        )
    if not file.exists():
        create_key_file(file)
    return _fitting(Seal(read_keys(_read(file), str(file))), known, str(file))


def create_key_file(file: Path) -> None:
    """Write a new key, whole or not at all. Of several processes at once, one makes it."""
    _write(file, secrets.token_hex(KEY_BYTES) + "\n", replace=False)


def rotate(file: Path) -> str:
    """Put a new key before those of the file; the newest seals, the older ones still open. Its id."""
    older = _read(file)
    read_keys(older, str(file))
    _write(file, f"{secrets.token_hex(KEY_BYTES)}\n{older}", replace=True)
    return Seal(read_keys(_read(file), str(file))).newest


def _fitting(seal: Seal, known: Collection[str], where: str) -> Seal:
    if lost := set(known) - seal.key_ids:
        raise LostKey(
            f"This database holds what was sealed with the key {' and '.join(sorted(lost))}, which is not in "
            f"{where} (there: {', '.join(sorted(seal.key_ids))}). Add it after the newest one."
        )
    return seal


def _read(file: Path) -> str:
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


def _write(file: Path, text: str, *, replace: bool) -> None:
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
                _link(draft, file)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"The key file {file} cannot be written: {error}") from error


def _link(draft: Path, file: Path) -> None:
    """The draft becomes the file, unless another process was faster: then that one's key holds."""
    with suppress(FileExistsError):
        os.link(draft, file)
