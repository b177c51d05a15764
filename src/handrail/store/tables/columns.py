"""The metadata of the schema, and the columns of which its tables, and the migrations, are made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

Columns = list[sa.Column[Any]]


def table(name: str, primary_key: Sequence[str], *parts: sa.schema.SchemaItem) -> sa.Table:
    return sa.Table(name, metadata, *parts, sa.PrimaryKeyConstraint(*primary_key))


def partial_index(name: str, where: str, *columns: str) -> sa.Index:
    """An index over the rows of which the condition is true."""
    condition = sa.text(where)
    return sa.Index(name, *columns, sqlite_where=condition, postgresql_where=condition)


def text(*names: str, nullable: bool = False) -> Columns:
    return _columns(sa.Text, names, nullable)


def double(*names: str, nullable: bool = False) -> Columns:
    return _columns(sa.Double, names, nullable)


def integer(*names: str, default: str | None = None) -> Columns:
    return _columns(sa.Integer, names, False, default)


def big_integer(*names: str) -> Columns:
    return _columns(sa.BigInteger, names, False)


def boolean(*names: str, default: str | None = None) -> Columns:
    return _columns(sa.Boolean, names, False, default)


def binary(*names: str) -> Columns:
    return _columns(sa.LargeBinary, names, False)


def _columns(kind: Any, names: Iterable[str], nullable: bool, default: str | None = None) -> Columns:
    value = None if default is None else sa.text(default)
    return [sa.Column(name, kind(), nullable=nullable, server_default=value) for name in names]
