"""Settings: one's profile, and for whoever may: keys, people, roles, dead letters and usage."""

from handrail.doors.web.pages.settings import keys, profile

PAGES = (profile.pages, keys.pages)
