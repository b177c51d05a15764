"""Guards: the database itself refuses to change or remove an event."""

from __future__ import annotations

REFUSAL = "events are never changed or removed"
_TABLE = "session_events"


def guards(dialect: str) -> list[str]:
    """The statements that make `session_events` append-only."""
    return _sqlite() if dialect == "sqlite" else _postgresql()


def lift(dialect: str) -> list[str]:
    """The statements that take the guards away again, for a migration back."""
    if dialect == "sqlite":
        return [f"DROP TRIGGER IF EXISTS {_TABLE}_no_{verb}" for verb in ("update", "delete", "replace")]
    triggers = [f"DROP TRIGGER IF EXISTS {_TABLE}_no_{what} ON {_TABLE}" for what in ("change", "truncate")]
    return [*triggers, f"DROP FUNCTION IF EXISTS refuse_change_of_{_TABLE}()"]


def _sqlite() -> list[str]:
    refuse = f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
    # INSERT OR REPLACE removes a row without asking a trigger for DELETE.
    taken = (
        f"EXISTS (SELECT 1 FROM {_TABLE} WHERE tenant_id = NEW.tenant_id"
        " AND session_id = NEW.session_id AND seq = NEW.seq)"
    )
    return [
        f"CREATE TRIGGER {_TABLE}_no_update BEFORE UPDATE ON {_TABLE} {refuse}",
        f"CREATE TRIGGER {_TABLE}_no_delete BEFORE DELETE ON {_TABLE} {refuse}",
        f"CREATE TRIGGER {_TABLE}_no_replace BEFORE INSERT ON {_TABLE} WHEN {taken} {refuse}",
    ]


def _postgresql() -> list[str]:
    function = f"refuse_change_of_{_TABLE}()"
    return [
        f"CREATE FUNCTION {function} RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION '{REFUSAL}' USING ERRCODE = 'insufficient_privilege'; END $$",
        f"CREATE TRIGGER {_TABLE}_no_change BEFORE UPDATE OR DELETE ON {_TABLE}"
        f" FOR EACH STATEMENT EXECUTE FUNCTION {function}",
        f"CREATE TRIGGER {_TABLE}_no_truncate BEFORE TRUNCATE ON {_TABLE}"
        f" FOR EACH STATEMENT EXECUTE FUNCTION {function}",
    ]
