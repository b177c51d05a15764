"""Queue: puts jobs into the engine's queue, within a transaction of ours."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

from dbos import DBOSClient, EnqueueOptions
from sqlalchemy import Connection

from handrail.core.run.jobs import Limits
from handrail.jobs.quiet import hush
from handrail.jobs.unpickling import forbid
from handrail.store.database import Database
from handrail.store.queue_engine import make_queue_engine

NAME = "handrail"
"""Of the one queue, which has a partition for each tenant, and of the application that owns it."""
POLL = 0.2
"""Seconds between two looks into the queue."""
WORKFLOW = "handrail.perform"
_DONE = ["SUCCESS", "ERROR", "CANCELLED"]
_MANY = 500
VERSION = "1"
"""Of what the engine carries: two ids. An upgrade of Handrail or of tools does not change it."""


def serializer() -> Any:
    """JSON that any reader understands."""
    from dbos._serialization import DBOSPortableJSONSerializer

    return DBOSPortableJSONSerializer()


def workflow_id(tenant: str, call_id: str, number: int) -> str:
    return f"{tenant}/{call_id}/{number}"


class Queue:
    """Enqueues; runs nothing."""

    def __init__(self, database: Database) -> None:
        forbid()
        hush()
        self.engine = make_queue_engine(database.url)
        self._client = DBOSClient(
            system_database_engine=self.engine,
            serializer=serializer(),
            application_name=NAME,
            lazy=True,
            retry_connection_errors=False,
        )

    def put(
        self, conn: Connection, tenant: str, call_id: str, number: int, seconds: float | None = None
    ) -> None:
        """Enqueue a job, to be begun after so many seconds. It is there when the transaction commits."""
        options: EnqueueOptions = {
            "workflow_name": WORKFLOW,
            "queue_name": NAME,
            "workflow_id": workflow_id(tenant, call_id, number),
            "queue_partition_key": tenant,
            "app_version": VERSION,
        }
        if seconds is not None and seconds > 0:
            options["delay_seconds"] = seconds
        self._client.enqueue_in_transaction(conn, options, tenant, call_id)

    def configure(self, limits: Limits) -> None:
        """Say how much of the queue may run at once. Blocks."""
        rate = limits.rate
        self._client.register_queue(
            NAME,
            worker_concurrency=limits.at_once,
            partition_concurrency=limits.per_tenant,
            partition_limiter=None if rate is None else {"limit": rate[0], "period": rate[1]},
            polling_interval_sec=POLL,
            on_conflict="always_update",
        )

    def forget(self, seconds: float) -> None:
        """Remove what the engine had done so many seconds ago. Blocks."""
        before = datetime.fromtimestamp(time.time() - seconds, UTC).isoformat()
        while done := self._client.list_workflows(
            status=_DONE, completed_before=before, limit=_MANY, load_input=False, load_output=False
        ):
            self._client.delete_workflows([one.workflow_id for one in done])

    def close(self) -> None:
        self._client.destroy()
        self.engine.dispose()
