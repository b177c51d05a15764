"""Settings: one's profile, and for whoever may: keys, people, roles, dead letters and usage."""

from handrail.doors.web.pages.settings import dead_letters, embeds, keys, members, profile, roles, usage

PAGES = (
    profile.router,
    keys.router,
    embeds.router,
    members.router,
    roles.router,
    dead_letters.router,
    usage.router,
)
