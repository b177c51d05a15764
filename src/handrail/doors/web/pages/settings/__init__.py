"""Settings: one's profile, and for whoever may: keys, people, roles, dead letters and usage."""

from handrail.doors.web.pages.settings import embeds, keys, letters, members, profile, roles, usage

PAGES = (profile.pages, keys.pages, embeds.pages, members.pages, roles.pages, letters.pages, usage.pages)
