"""Approvals: what agents ask for, shown exactly, and what people say to it."""

from handrail.doors.web.pages.approvals import decide, inbox

PAGES = (inbox.router, decide.router)
