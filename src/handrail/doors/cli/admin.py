"""handrail db, tenants, keys, secrets, sign-in: for whoever has the database in hand."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from handrail.core.define.levels import LEVELS
from handrail.doors.cli.command import Invocation, command
from handrail.doors.cli.context import require_database
from handrail.doors.cli.database import store_packages
from handrail.doors.cli.exit_codes import CommandError, ExitCode, not_found
from handrail.doors.cli.options import T, option, parse_choice, parse_duration
from handrail.doors.cli.output import Answer, listing, moment

if TYPE_CHECKING:
    from handrail.core.define.principal import KeyKind
    from handrail.engine.admin import SecretAdmin
    from handrail.store.api_keys import ApiKey
    from handrail.store.database import Database

_KINDS: tuple[KeyKind, ...] = ("agent", "person", "service")


@command("database owner_url json")
def upgrade_database(
    cli: Invocation,
    owner_url: Annotated[
        str | None,
        typer.Option(
            "--owner-url",
            metavar="url",
            help="PostgreSQL: the address of a user who may create tables and roles. "
            "Without it handrail.toml says, or the database's own address.",
        ),
    ] = None,
) -> Answer:
    """Bring the database to the schema of this version.

    On PostgreSQL the user of the database's own address is then admitted: it may act as the roles that see
    one tenant at a time, and owns nothing.
    """
    url = require_database(cli.settings)
    owner = owner_url or cli.settings.owner_url or url
    with store_packages():
        from sqlalchemy.engine import make_url

        from handrail.databases import upgrade
        from handrail.store.engines import dialect_of
        from handrail.store.grants import grant_roles, url_user

        upgrade(owner)
        user = url_user(url)
        if dialect_of(owner) == "postgresql" and user is not None and user != url_user(owner):
            grant_roles(owner, user)
        name = make_url(url).render_as_string(hide_password=True)
    return Answer({"database": name}, f"{name} is up to date.")


@command("json database")
def list_tenants(cli: Invocation) -> Answer:
    """List the tenants of the database."""
    db = cli.database()
    from handrail.identity.members import MemberAdmin

    tenants = cli.run(MemberAdmin(db).tenants())
    rows = [(tenant.id, tenant.name, moment(tenant.created_at)) for tenant in tenants]
    none = "There are no tenants yet: handrail tenants add SLUG"
    return Answer([asdict(tenant) for tenant in tenants], listing(("Id", "Name", "Since"), rows, none))


@command("json database")
def add_tenant(
    cli: Invocation,
    slug: Annotated[
        str, typer.Argument(help="Its id for good: lower-case words joined by '-', such as acme-berlin.")
    ],
    name: Annotated[
        str | None, option("--name", "text", "What people call it; the slug, if nothing.")
    ] = None,
) -> Answer:
    """Add a tenant."""
    db = cli.database()
    from handrail.identity.members import MemberAdmin

    tenant = cli.run(MemberAdmin(db).create_tenant(slug, slug if name is None else name))
    next_step = f"handrail keys add NAME --tenant {tenant.id}"
    return Answer(asdict(tenant), f"{tenant.id} is there now. Give it a key: {next_step}")


@command("json database tenant")
def list_keys(cli: Invocation) -> Answer:
    """List the API keys of a tenant."""
    db = cli.database()
    from handrail.identity.api_keys import KeyAdmin

    keys = cli.run(KeyAdmin(db).list(cli.operator))
    now = db.clock.now()
    rows = [
        (key.id, key.name, key.kind, _state(key, now), moment(key.last_used_at), _reach(key)) for key in keys
    ]
    tenant = cli.settings.tenant
    none = f"{tenant} has no keys: handrail keys add NAME --tenant {tenant}"
    labels = ("Id", "Name", "Kind", "State", "Last used", "Reaches")
    return Answer([_key_json(key) for key in keys], listing(labels, rows, none))


@command("json database tenant")
def add_key(
    cli: Invocation,
    name: Annotated[str, typer.Argument(help="What the key is for, in a word or two.", show_default=False)],
    kind: Annotated[str, option("--kind", "kind", f"Who uses it: {', '.join(_KINDS)}.")] = "agent",
    for_: Annotated[
        str | None, option("--for", "user", "The user on whose behalf it calls: their id.")
    ] = None,
    agent: Annotated[str | None, option("--agent", "name", "The agent that calls with it.")] = None,
    role: Annotated[
        list[str] | None, option("--role", "name", "What this role gives. May be repeated.")
    ] = None,
    permission: Annotated[
        list[str] | None, option("--permission", "name", "A permission it gives. May be repeated.")
    ] = None,
    only: Annotated[
        list[str] | None, option("--only", "tool", "A tool, or a pattern such as stock.*. May be repeated.")
    ] = None,
    level: Annotated[
        str | None, option("--level", "level", f"The gravest it reaches: {', '.join(LEVELS)}.")
    ] = None,
    audience: Annotated[
        str | None, option("--audience", "door", "The door it opens: api or mcp. Both if left out.")
    ] = None,
    expires: Annotated[str | None, option("--expires", "time", "When it ends, such as 90d.")] = None,
) -> Answer:
    """Make an API key, and show it once.

    The key alone is on standard output, so that a script can keep it. It cannot be shown again: only a digest
    of it is stored.
    """
    key_kind = _option_choice(kind, _KINDS, "--kind")
    ceiling = None if level is None else _option_choice(level, LEVELS, "--level")
    lifetime = None if expires is None else parse_duration(expires, "--expires")
    db = cli.database()
    from handrail.identity.api_keys import KeyAdmin

    permissions = cli.run(_permissions(cli, db, role or [], permission or []))
    text, key = cli.run(
        KeyAdmin(db).make(
            cli.operator,
            name,
            key_kind,
            user=for_,
            agent=agent,
            permissions=permissions,
            tools=only,
            ceiling=ceiling,
            audience=audience,
            lifetime=lifetime,
        )
    )
    secret = text.reveal()
    return Answer(
        _key_json(key) | {"key": secret},
        lambda screen: screen.out.line(secret),
        note=f"Keep it now: it is not shown again. End it with: handrail keys revoke {key.id}",
    )


async def _permissions(
    cli: Invocation, db: Database, roles: list[str], more: list[str]
) -> frozenset[str] | None:
    """What the roles and the permissions give; None where neither is named. The tenant must be there."""
    from handrail.identity.members import MemberAdmin
    from handrail.identity.permissions import permissions_of

    members, tenant = MemberAdmin(db), cli.settings.tenant
    tenants = [row.id for row in await members.tenants()]
    if tenant not in tenants:
        remedy = f"add it: handrail tenants add {tenant}; there are: {', '.join(tenants) or 'none'}"
        raise CommandError(f"there is no tenant {tenant!r}", remedy)
    if not roles and not more:
        return None
    defined = await members.roles(cli.operator)
    for role in roles:
        _option_choice(role, tuple(defined), "--role")
    return permissions_of(roles, defined) | frozenset(more)


@command("json database tenant")
def revoke_key(
    cli: Invocation,
    id: Annotated[str, typer.Argument(help="The key: its id, as `keys list` shows it.", show_default=False)],
) -> Answer:
    """End an API key for good."""
    db = cli.database()
    from handrail.identity.api_keys import KeyAdmin

    tenant = cli.settings.tenant
    if not cli.run(KeyAdmin(db).revoke(cli.operator, id)):
        problem = f"{tenant} has no key {id!r} that is alive"
        raise not_found(problem, f"handrail keys list --tenant {tenant}")
    return Answer({"id": id, "revoked": True}, f"{id} opens nothing any more.")


def _option_choice(text: str, choices: Sequence[T], option: str) -> T:
    return parse_choice(text, choices, f"{option} {text!r} is none")


def _state(key: ApiKey, now: float) -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "alive" if key.is_live(now) else "expired"


def _reach(key: ApiKey) -> str:
    tools = "all tools" if key.tools is None else ", ".join(key.tools) or "no tools"
    reach = tools if key.ceiling is None else f"{tools}, up to {key.ceiling}"
    return reach if key.audience is None else f"{reach}, by {key.audience}"


def _key_json(key: ApiKey) -> dict[str, Any]:
    """What is known of a key; its level by the name of the option."""
    return {("level" if name == "ceiling" else name): value for name, value in key.to_dict().items()}


SecretName = Annotated[
    str, typer.Argument(help="What tools call it, such as BANK_TOKEN.", show_default=False)
]
Owner = Annotated[
    str | None, option("--for", "user", "The user whose credential it is; without, the tenant's own.")
]


def _secrets_admin(cli: Invocation) -> SecretAdmin:
    db = cli.database()
    from handrail.databases import database_seal
    from handrail.engine.admin import SecretAdmin
    from handrail.store.secrets import StoreSecrets

    return SecretAdmin(StoreSecrets(db, database_seal(db)))


@command("json database tenant")
def list_secrets(cli: Invocation) -> Answer:
    """List which secrets a tenant has.

    Never what they are.
    """
    tenant = cli.settings.tenant
    secrets = cli.run(_secrets_admin(cli).list(cli.operator))
    rows = [(secret.name, secret.user, moment(secret.updated_at)) for secret in secrets]
    none = f"{tenant} has no secrets: handrail secrets set NAME --tenant {tenant}"
    return Answer(
        [{"name": row.name, "user": row.user, "updated_at": row.updated_at} for row in secrets],
        listing(("Name", "Of user", "Kept"), rows, none),
    )


@command("database tenant")
def set_secret(cli: Invocation, name: SecretName, for_: Owner = None) -> None:
    """Keep a secret.

    Its value is asked for, or read from standard input: one line.
    """
    admin = _secrets_admin(cli)
    value = getpass.getpass("Value: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
    if not value:
        raise CommandError("there is no value", "type it, or give it on standard input")
    cli.run(admin.set(name, value, by=cli.operator, user=for_))
    cli.screen.err.say(f"{name} is kept. Tools read it with ctx.secret({name!r}).")


@command("database tenant")
def remove_secret(cli: Invocation, name: SecretName, for_: Owner = None) -> None:
    """Forget a secret for good."""
    tenant = cli.settings.tenant
    if not cli.run(_secrets_admin(cli).delete(name, by=cli.operator, user=for_)):
        raise not_found(f"{tenant} has no secret {name!r}", f"handrail secrets list --tenant {tenant}")
    cli.screen.err.say(f"{name} is forgotten.")


@command("json database tenant")
def create_sign_in_link(
    cli: Invocation,
    email: Annotated[
        str | None,
        typer.Argument(help="Whom to let in: their address. The owner, if left out.", show_default=False),
    ] = None,
    url: Annotated[
        str | None, option("--url", "url", "Where the server answers, if not as the settings say.")
    ] = None,
) -> Answer:
    """Make a link by which a person signs in, once.

    It is for the server that runs on this database, and ends after fifteen minutes.
    """
    db, settings = cli.database(), cli.settings
    from handrail.databases import database_seal
    from handrail.identity import bootstrap
    from handrail.identity.services import Services

    services = Services(db, database_seal(db))
    token = cli.run(bootstrap.create_sign_in_link(services, settings.tenant, email))
    if token is None:
        lacks = "owner, or several" if email is None else f"member {email}"
        problem = f"{settings.tenant} has no {lacks}"
        raise CommandError(problem, "name a member by their address", ExitCode.REFUSED)
    link = f"{(url or settings.url).rstrip('/')}/sign-in?link={token}"
    return Answer({"url": link}, lambda screen: screen.out.line(link))
