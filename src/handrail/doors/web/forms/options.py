"""Options: things to pick from, wherever they are kept."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from handrail.core.define.principal import Principal
from handrail.core.present.forms import Option, option_source

_log = logging.getLogger("handrail.web")


class OptionSource(Protocol):
    """Any store that can look for things of a type by what a person types."""

    async def search(self, type: str, text: str, limit: int) -> list[Option]: ...


@dataclass(frozen=True, slots=True)
class PickerOptions:
    """What a drawing knows of options: some of each type, and where a page can look for more."""

    found: Mapping[str, Sequence[Option]] = field(default_factory=dict)
    address: str | None = None
    """Answers `?type=…&q=…` with a JSON list of `{value, label}`."""

    def label_of(self, type: str, value: str) -> str | None:
        return next((one.label for one in self.found.get(type, ()) if one.value == value), None)


NO_OPTIONS = PickerOptions()


class RegisteredOptions:
    """What was registered for each type, as one person may see it. What fails to look finds nothing."""

    def __init__(self, who: Principal) -> None:
        self._who = who

    async def search(self, type: str, text: str, limit: int) -> list[Option]:
        find = option_source(type)
        if find is None:
            return []
        try:
            return list(await find(self._who, text, limit))[:limit]
        except Exception:
            _log.exception("the options of %r could not be looked for", type)
            return []


async def load_options(
    types: Sequence[str], source: OptionSource, address: str | None = None, limit: int = 50
) -> PickerOptions:
    """The first options of each type, for a page without script."""
    return PickerOptions({type: await source.search(type, "", limit) for type in types}, address)
