"""A folder to work in, with what lies outside of it."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root/src").mkdir(parents=True)
    (tmp_path / "root/src/a.py").write_bytes(b"a = 1\n")
    (tmp_path / "root-evil").mkdir()
    (tmp_path / "root-evil/secret").write_text("outside")
    (tmp_path / "secret").write_text("outside")
    return tmp_path / "root"
