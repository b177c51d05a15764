"""The same number of one-step workflows on the bare durable engine, on SQLite with the same settings."""

import asyncio
import logging
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dbos import DBOS
from dbos._serialization import DBOSPortableJSONSerializer

from benchmarks.subject_process import main
from benchmarks.timing import Subject
from handrail.core.run.jobs.job import JobLimits
from handrail.databases import upgrade
from handrail.jobs.queue import POLL_SECONDS
from handrail.store.engines import make_queue_engine

MANY = 100


@DBOS.step()
async def step(text: str) -> str:
    return text


@DBOS.workflow(name="echo")
async def echo(text: str) -> str:
    return await step(text)


async def subjects() -> Sequence[Subject]:
    folder = tempfile.TemporaryDirectory(prefix="handrail-bench-", ignore_cleanup_errors=True)
    url = f"sqlite:///{Path(folder.name) / 'raw.db'}"
    logging.getLogger("dbos").setLevel(logging.ERROR)
    upgrade(url)
    DBOS(
        config={
            "name": "raw",
            "system_database_engine": make_queue_engine(url),
            "serializer": DBOSPortableJSONSerializer(),
            "application_version": "1",
            "executor_id": "one",
            "run_migrations": False,
            "use_listen_notify": False,
            "log_level": "ERROR",
        }
    )
    DBOS.launch()
    queue = await DBOS.register_queue_async(
        "raw", worker_concurrency=JobLimits().at_once, polling_interval_sec=POLL_SECONDS
    )

    async def workflows(number: int) -> object:
        assert folder.name
        for _ in range(number):
            handles = await asyncio.gather(*(queue.enqueue_async(echo, "hi") for _ in range(MANY)))
            answers = [await handle.get_result(polling_interval_sec=0.1) for handle in handles]
        return answers

    return (Subject(f"{MANY} bare workflows", workflows, lambda answers: answers == ["hi"] * MANY),)


if __name__ == "__main__":
    main(subjects)
