"""Keys come from the environment or a file that only its owner can read; a lost one is never replaced."""

from __future__ import annotations

import base64
import os
import secrets
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from handrail.core.errors import UsageError
from handrail.store.encryption import MissingKey, create_key_file, load_seal, parse_keys, rotate_key_file

pytestmark = pytest.mark.req("BY-19")
KEY = bytes(range(32))


@pytest.mark.parametrize(
    "text",
    [
        KEY.hex(),
        KEY.hex().upper(),
        base64.b64encode(KEY).decode(),
        base64.urlsafe_b64encode(KEY).decode().rstrip("="),
        f"# made in May\n{KEY.hex()}\n",
    ],
)
def test_a_key_is_read_in_hex_and_in_base64(text: str) -> None:
    assert parse_keys(text, "here") == [KEY]


@pytest.mark.parametrize(
    "text", ["passw0rd-4711", KEY.hex()[:-1], "z" * 64, base64.b64encode(b"x" * 31).decode()]
)
def test_what_is_no_key_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_keys(text, "HANDRAIL_KEY")
    assert text not in str(raised.value)
    assert "HANDRAIL_KEY" in str(raised.value) and "32 bytes" in str(raised.value)


def test_the_bad_one_of_several_is_told_by_its_number() -> None:
    with pytest.raises(UsageError, match="key 2 of 2 in here"):
        parse_keys(f"{KEY.hex()},4711", "here")
    with pytest.raises(UsageError, match="holds no key"):
        parse_keys(" \n# nothing\n", "here")


def test_the_environment_comes_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "handrail.key"
    seal = load_seal(file, (), {"HANDRAIL_KEY": KEY.hex()})
    assert seal.open("acme", seal.close("acme", 1)) == 1
    assert not file.exists()


def test_a_key_file_is_made_for_its_owner_alone_and_read_again(tmp_path: Path) -> None:
    file = tmp_path / "data" / "handrail.key"
    first = load_seal(file, (), {})
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert load_seal(file, {first.newest}, {}).open("acme", first.close("acme", "x")) == "x"
    assert os.listdir(file.parent) == ["handrail.key"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_key_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "handrail.key"
    create_key_file(file)
    file.chmod(mode)
    with pytest.raises(UsageError, match="chmod 600"):
        load_seal(file, (), {})


def test_no_new_key_takes_the_place_of_a_lost_one(tmp_path: Path) -> None:
    file = tmp_path / "handrail.key"
    known = {load_seal(file, (), {}).newest}
    file.unlink()
    with pytest.raises(MissingKey, match="Put the key back"):
        load_seal(file, known, {})
    assert not file.exists()
    with pytest.raises(MissingKey, match="which is not in HANDRAIL_KEY"):
        load_seal(file, known, {"HANDRAIL_KEY": secrets.token_hex(32)})


def test_after_a_rotation_what_was_sealed_before_still_opens(tmp_path: Path) -> None:
    file = tmp_path / "handrail.key"
    before = load_seal(file, (), {})
    sealed = before.close("acme", "4711")
    newest = rotate_key_file(file)
    after = load_seal(file, {before.newest}, {})
    assert after.newest == newest != before.newest
    assert after.open("acme", sealed) == "4711"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_of_several_processes_at_once_one_makes_the_key(tmp_path: Path) -> None:
    file = tmp_path / "handrail.key"
    code = (
        "import sys; from pathlib import Path; from handrail.store.encryption import load_seal; "
        "sys.stdin.read(1); print(load_seal(Path(sys.argv[1]), (), {}).newest)"
    )
    several = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    told = {process.communicate("x")[0].strip() for process in several}
    assert len(told) == 1 and "" not in told


def test_a_file_that_cannot_be_read_or_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_seal(tmp_path, (), {})
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        load_seal(tmp_path / "file" / "handrail.key", (), {})
