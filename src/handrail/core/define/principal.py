"""Principal: on whose behalf a call is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, get_args

from handrail.core.define.levels import LEVELS, Level
from handrail.core.define.schema import digest_of

KeyKind = Literal["agent", "person", "service"]

EVERYTHING = "*"


@dataclass(frozen=True, slots=True, eq=False)
class Principal:
    """Tenant, user and what they hold. Frozen and hashable; any iterable will do for the sets."""

    tenant: str
    """The tenant's slug."""
    user: str | None = None
    roles: frozenset[str] = frozenset()
    permissions: frozenset[str] = frozenset()
    """RBAC strings; `*` holds every one."""
    agent: str | None = None
    """The agent that acts for the user, if one does."""
    workspace: str | None = None
    """A scope inside the tenant."""
    key: KeyKind = "agent"
    """Whose key opened the door, for calls with source `api`: only a person's own key can confirm."""
    ancestors: tuple[str, ...] = ()
    """The agents above this one, the first one first: what a rule says of any of them holds here too."""
    scope: tuple[str, ...] | None = None
    """Names or patterns of the tools its key reaches; None reaches all, an empty one nothing."""
    ceiling: Level | None = None
    """The gravest level its key reaches; None is no bound."""
    embed: bool = False
    """Whether it came by the token of a published page: what was disabled since is shown there."""
    key_id: str | None = None
    """The id of the API key that was shown, for a caller that has no other name."""
    _identity: tuple[Any, ...] = field(init=False, repr=False)
    _hash: int = field(init=False, repr=False)

    if TYPE_CHECKING:

        def __init__(
            self,
            tenant: str,
            user: str | None = None,
            roles: Iterable[str] = (),
            permissions: Iterable[str] = (),
            agent: str | None = None,
            workspace: str | None = None,
            key: KeyKind = "agent",
            ancestors: Iterable[str] = (),
            scope: Iterable[str] | None = None,
            ceiling: Level | None = None,
            embed: bool = False,
            key_id: str | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        if not isinstance(self.tenant, str) or not self.tenant:
            raise ValueError("Principal needs a tenant: the tenant's slug, such as 'acme'")
        if self.key not in get_args(KeyKind):
            raise ValueError(f"Principal.key is agent, person or service, not {self.key!r}")
        object.__setattr__(self, "roles", _names("roles", self.roles))
        object.__setattr__(self, "permissions", _names("permissions", self.permissions))
        if self.ceiling is not None and self.ceiling not in LEVELS:
            raise ValueError(f"Principal.ceiling is one of {', '.join(LEVELS)}, not {self.ceiling!r}")
        object.__setattr__(self, "ancestors", tuple(self.ancestors))
        if self.scope is not None:
            object.__setattr__(self, "scope", tuple(sorted(_names("scope", self.scope))))
        identity = _identity_of(self)
        object.__setattr__(self, "_identity", identity)
        object.__setattr__(self, "_hash", hash(identity))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Principal) and self._identity == other._identity

    @property
    def caller(self) -> tuple[str | None, ...]:
        """Who calls, whatever they may do at the moment: the same for all calls of one user or agent.

        Callers without a name are told apart by their keys, or where there is none by all that they hold.
        """
        return (self.tenant, self.user, self.agent, self.workspace, self.nameless_id)

    def is_same_caller(self, other: Principal) -> bool:
        """Whether both are one caller: the only definition, for all that a caller has made."""
        return self.caller == other.caller

    @property
    def nameless_id(self) -> str | None:
        """What tells a caller without a name from others; None for one that has a name."""
        if self.user is not None or self.agent is not None:
            return None
        return self.key_id or digest_of(self.to_dict())

    @classmethod
    def local(cls) -> Principal:
        """The developer at their own machine: the default where there is no database."""
        return cls(tenant="local", user="local", permissions=frozenset({EVERYTHING}))

    def to_dict(self) -> dict[str, Any]:
        """Everything it is, as JSON data: whoever keeps a principal keeps all of its bounds."""
        return {name: _listed(value) for name, value in zip(_FIELDS, self._identity, strict=True)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Principal:
        """The principal that was kept. What is not known here is refused: it may have been a bound."""
        return cls(**values)

    def holds(self, permission: str) -> bool:
        """Whether this principal holds a permission string."""
        return permission in self.permissions or EVERYTHING in self.permissions

    def spawn(self, agent: str, permissions: Iterable[str] | None = None) -> Principal:
        """The principal of a sub-agent: never more than this one holds, and no person's key."""
        requested = self.permissions if permissions is None else frozenset(permissions)
        held = intersect_permissions(requested, self.permissions)
        above = self.ancestors if self.agent is None else (*self.ancestors, self.agent)
        return replace(self, agent=agent, permissions=held, key="agent", ancestors=above)

    def as_of(self, now: Principal) -> Principal:
        """This principal with the roles that the same user has now, and no permission that they have lost."""
        return replace(
            self, roles=now.roles, permissions=intersect_permissions(self.permissions, now.permissions)
        )


_FIELDS = tuple(item.name for item in fields(Principal) if item.init)
_identity_of = attrgetter(*_FIELDS)


def intersect_permissions(first: frozenset[str], second: frozenset[str]) -> frozenset[str]:
    """The permissions that are in both; `*` is every one."""
    if EVERYTHING in first:
        return second
    return first if EVERYTHING in second else first & second


def _listed(value: Any) -> Any:
    if isinstance(value, frozenset):
        return sorted(value)
    return list(value) if isinstance(value, tuple) else value


def _names(what: str, values: Iterable[str]) -> frozenset[str]:
    if isinstance(values, str):
        raise ValueError(f"Principal.{what} wants a collection of names, not one string: [{values!r}]")
    names = frozenset(values)
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"Principal.{what} wants names (strings)")
    return names
