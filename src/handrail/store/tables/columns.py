"""The metadata of the schema, and columns that must or may hold a value."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, MetaData, Text

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def required(name: str, kind: Any = Text, **options: Any) -> Column[Any]:
    return Column(name, kind, nullable=False, **options)


def optional(name: str, kind: Any = Text, **options: Any) -> Column[Any]:
    return Column(name, kind, nullable=True, **options)
