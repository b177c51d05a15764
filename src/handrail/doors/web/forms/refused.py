"""What a call that did not succeed says of single fields, for the form that it came from."""

from __future__ import annotations

from collections.abc import Mapping

from handrail.core.define.call import FieldError, Outcome


def refused_fields(outcome: Outcome) -> list[FieldError]:
    """What was wrong with which field; nothing where the call succeeded, or tells of no field."""
    told = None if outcome.ok else outcome.result.metadata.get("fields")
    if isinstance(told, Mapping):
        return [FieldError(str(path), str(reason)) for path, reason in told.items()]
    if not isinstance(told, list | tuple):
        return []
    return [
        FieldError(str(one.get("path", "")), str(one.get("reason", "")))
        for one in told
        if isinstance(one, Mapping)
    ]
