"""Approvals: what agents ask for, shown exactly, and what people say to it."""

from handrail.doors.web.pages.approvals import deciding, editing, inbox
from handrail.doors.web.routing import Pages

pages = Pages()
for _one in (inbox.pages, editing.pages, deciding.pages):
    pages.routes += _one.routes
