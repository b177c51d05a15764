"""Shapes of what is planned and of what is undone, for the document."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from handrail.doors.http.shapes import Explained, Told


class PlannedLine(BaseModel):
    """A call that plan mode holds back. Secrets are masked."""

    call_id: str
    tool: str
    arguments: dict[str, Any]
    reason: str
    session: str | None
    user: str | None
    agent: str | None
    source: str
    at: float


class PlanPage(BaseModel):
    calls: list[PlannedLine]
    next: str | None


class PlanRun(BaseModel):
    outcomes: list[Told]


class Undone(BaseModel):
    """What takes a call back; without an outcome where it was only asked for."""

    undoes: str
    tool: str
    arguments: dict[str, Any]
    decision: Explained
    outcome: Told | None
