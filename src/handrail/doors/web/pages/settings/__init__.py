"""Settings: one's profile, and for whoever may: keys, people, roles, dead letters and usage."""

from handrail.doors.web.pages.settings import dead_letters, embeds, keys, members, profile, roles, usage

PAGES = tuple(
    module.section.router for module in (profile, keys, embeds, members, roles, dead_letters, usage)
)
