"""Everything that opening a database loads, so that a fork of this process need not."""

from __future__ import annotations

import importlib
import pkgutil

import handrail.identity
import handrail.jobs
import handrail.store

for package in (handrail.identity, handrail.jobs, handrail.store):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if ".migrations" not in module.name:
            importlib.import_module(module.name)
for name in (
    "cryptography.hazmat.primitives.ciphers.aead",
    "dbos._sys_db_postgres",
    "dbos._sys_db_sqlite",
    "handrail.databases",
    "psycopg",
    "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite.pysqlite",
):
    importlib.import_module(name)
