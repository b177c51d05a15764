"""JobQueue: puts jobs into the engine's queue in a transaction of ours; bounds how many run at once."""

from __future__ import annotations

import os
import re
import time
from datetime import UTC, datetime
from typing import Any

from dbos import DBOSClient, EnqueueOptions
from sqlalchemy import Connection

from handrail.core.errors import UsageError
from handrail.core.run.jobs.job import JobLimits
from handrail.jobs.dbos_setup import forbid_pickle, silence_dbos_log
from handrail.store.database import Database
from handrail.store.engines import make_queue_engine

PER_TENANT = "HANDRAIL_PER_TENANT"
RATE = "HANDRAIL_RATE"

_DEFAULT_PER_TENANT = "4"
"""Of one tenant, unless somebody wants more: so that others get their turn."""


def limits_from_environment() -> JobLimits:
    """The limits for this process."""
    return JobLimits(
        per_tenant=_per_tenant(os.environ.get(PER_TENANT, _DEFAULT_PER_TENANT)),
        rate=_rate(os.environ.get(RATE)),
    )


def _per_tenant(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,5}", text, re.ASCII):
        raise UsageError(f"{PER_TENANT} is a whole number from 1 on, not {text!r}.")
    return int(text)


def _rate(text: str | None) -> tuple[int, float] | None:
    if not text:
        return None
    match = re.fullmatch(r"([1-9][0-9]{0,8})/([1-9][0-9]{0,8})", text, re.ASCII)
    if match is None:
        raise UsageError(
            f"{RATE} is how many jobs of one tenant begin in how many seconds, such as 100/60, not {text!r}."
        )
    return int(match[1]), float(match[2])


QUEUE_NAME = "handrail"
"""Of the one queue, which has a partition for each tenant, and of the application that owns it."""

POLL_SECONDS = 0.2
"""Seconds between two looks into the queue."""
WORKFLOW_NAME = "handrail.perform"
_FINAL_STATUSES = ["SUCCESS", "ERROR", "CANCELLED"]
_DELETE_BATCH = 500

WORKFLOW_VERSION = "1"
"""Of what the engine carries: two ids. An upgrade of Handrail or of tools does not change it."""


def serializer() -> Any:
    """JSON that any reader understands."""
    from dbos._serialization import DBOSPortableJSONSerializer

    return DBOSPortableJSONSerializer()


def workflow_id(tenant: str, call_id: str, number: int) -> str:
    return f"{tenant}/{call_id}/{number}"


class JobQueue:
    """Enqueues; runs nothing."""

    def __init__(self, database: Database) -> None:
        forbid_pickle()
        silence_dbos_log()
        self.engine = make_queue_engine(database.url)
        self._client = DBOSClient(
            system_database_engine=self.engine,
            serializer=serializer(),
            application_name=QUEUE_NAME,
            lazy=True,
            retry_connection_errors=False,
        )

    def put(
        self, conn: Connection, tenant: str, call_id: str, number: int, seconds: float | None = None
    ) -> None:
        """Enqueue a job, to be begun after so many seconds. It is there when the transaction commits."""
        options: EnqueueOptions = {
            "workflow_name": WORKFLOW_NAME,
            "queue_name": QUEUE_NAME,
            "workflow_id": workflow_id(tenant, call_id, number),
            "queue_partition_key": tenant,
            "app_version": WORKFLOW_VERSION,
        }
        if seconds is not None and seconds > 0:
            options["delay_seconds"] = seconds
        self._client.enqueue_in_transaction(conn, options, tenant, call_id)

    def configure(self, limits: JobLimits) -> None:
        """Say how much of the queue may run at once. Blocks."""
        rate = limits.rate
        self._client.register_queue(
            QUEUE_NAME,
            worker_concurrency=limits.at_once,
            partition_concurrency=limits.per_tenant,
            partition_limiter=None if rate is None else {"limit": rate[0], "period": rate[1]},
            polling_interval_sec=POLL_SECONDS,
            on_conflict="always_update",
        )

    def forget(self, seconds: float) -> None:
        """Remove what the engine had done so many seconds ago. Blocks."""
        before = datetime.fromtimestamp(time.time() - seconds, UTC).isoformat()
        while done := self._client.list_workflows(
            status=_FINAL_STATUSES,
            completed_before=before,
            limit=_DELETE_BATCH,
            load_input=False,
            load_output=False,
        ):
            self._client.delete_workflows([workflow.workflow_id for workflow in done])

    def close(self) -> None:
        self._client.destroy()
        self.engine.dispose()
