"""A pickled object that somebody plants in the engine's tables runs nothing."""

from __future__ import annotations

import base64
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from handrail import Handrail, Principal, tool
from handrail.jobs.dbos_setup import PickleRefused
from tests.acceptance.worker_processes import eventually

ANA = Principal(tenant="acme", user="ana", permissions=["*"])


class Bomb:
    """Makes a folder when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


@tool("notes.echo", level="read")
async def echo(text: str) -> str:
    """Give back a text."""
    return text


def planted(path: Path) -> str:
    return base64.b64encode(pickle.dumps({"args": (Bomb(path),), "kwargs": {}})).decode()


@pytest.mark.fault("F30")
async def test_a_planted_pickle_is_never_read_and_other_jobs_go_on(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    bomb = tmp_path / "boom"
    async with Handrail([echo], database=database_url) as hr:
        first = await hr.submit("notes.echo", {"text": "a"}, principal=ANA)
        await hr.wait(first.call_id, 30)
        database = hr.log.db  # type: ignore[attr-defined]
        schema = "dbos." if database.dialect == "postgresql" else ""
        with database.system() as conn:
            known = conn.execute(text(f"SELECT * FROM {schema}workflow_status LIMIT 1")).mappings().one()
            for number, inputs in enumerate((planted(bomb), planted(bomb))):
                row = {
                    **known,
                    "workflow_uuid": f"planted-{number}",
                    "status": "ENQUEUED",
                    "queue_name": "handrail" if number else "_dbos_internal_queue",
                    "serialization": "py_pickle",
                    "completed_at": None,
                    "owner_xid": None,
                }
                names = ", ".join(row)
                marks = ", ".join(f":{name}" for name in row)
                conn.execute(text(f"INSERT INTO {schema}workflow_status ({names}) VALUES ({marks})"), row)
                conn.execute(
                    text(f"INSERT INTO {schema}workflow_input (workflow_uuid, inputs) VALUES (:id, :inputs)"),
                    {"id": row["workflow_uuid"], "inputs": inputs},
                )
        later = await hr.submit("notes.echo", {"text": "b"}, principal=ANA)
        assert (await hr.wait(later.call_id, 30)).result.data == "b"

        def read() -> list[str]:
            with database.system() as conn:
                query = f"SELECT status FROM {schema}workflow_status WHERE workflow_uuid LIKE 'planted-%'"
                return [row[0] for row in conn.execute(text(query))]

        await eventually(lambda: set(read()) <= {"ERROR", "PENDING"})
    assert not bomb.exists()
    assert pickle.loads(b"\x80\x04N.") is None, "pickle itself is left alone"


def test_the_engine_can_neither_read_nor_write_a_pickle(tmp_path: Path) -> None:
    from dbos._serialization import DefaultSerializer, deserialize_args

    from handrail.jobs.dbos_setup import forbid_pickle

    forbid_pickle()
    with pytest.raises(PickleRefused):
        deserialize_args(planted(tmp_path / "boom"), "py_pickle", DefaultSerializer())
    with pytest.raises(PickleRefused):
        DefaultSerializer().serialize({})
    assert not (tmp_path / "boom").exists()
