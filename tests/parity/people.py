"""Who calls in the parity of doors, and what is written for each agent."""

from __future__ import annotations

from pathlib import Path

from handrail import Handrail, Principal
from handrail.policy_file import load_policies, read_policy
from tests.parity import tools

TENANT = "acme"
PERSON = Principal(TENANT, "ana", permissions=["shop.use"])
REVIEWER = Principal(TENANT, "bea", permissions=["approvals.decide"])

BASE = {"approval_mode": "policy"}
AGENTS = """\
agents:
  - id: ops
    approval_mode: policy
  - id: careful
    approval_mode: strict
  - id: guarded
    approval_mode: danger
  - id: planner
    approval_mode: policy
    plan: true
  - id: dreamer
    approval_mode: policy
    plan: all
  - id: narrow
    approval_mode: policy
    tools: {allow: [stock.*]}
  - id: barred
    approval_mode: policy
    tools: {deny: [stock.order, words.*]}
  - id: offline
    approval_mode: policy
    capabilities: [read, write, execute]
  - id: ruled
    approval_mode: policy
    rules:
      - {name: no-gold, tool: words.echo, when: {text: gold}, verdict: deny, reason: "gold is not spoken of"}
      - {name: ask-silver, tool: words.echo, when: {text: silver}, verdict: ask, reason: "silver is watched"}
      - {name: later-tin, tool: words.echo, when: {text: tin}, verdict: queue, reason: "tin comes later"}
"""
_NAMES = ("ops", "careful", "guarded", "planner", "dreamer", "narrow", "barred", "offline", "ruled")

PEOPLE: dict[str, Principal] = {name: PERSON.spawn(name) for name in _NAMES}
"""What `handrail run --as agent:NAME` is, too."""
PEOPLE["scoped"] = Principal(TENANT, "ana", permissions=["shop.use"], agent="ops", scope=["stock.*"])
PEOPLE["nothing"] = Principal(TENANT, "ana", permissions=["shop.use"], agent="ops", scope=[])
PEOPLE["reader"] = Principal(TENANT, "ana", permissions=["shop.use"], agent="ops", ceiling="read")
PEOPLE["foreign"] = Principal("other", "zoe", agent="ops")
PEOPLE["service"] = Principal(TENANT, permissions=["shop.use"], key="service")
PEOPLE["person"] = PERSON
PEOPLE["own key"] = Principal(TENANT, "ana", permissions=["shop.use"], key="person")

TOOLS = str(Path(tools.__file__))


def write_settings(folder: Path, database: str) -> None:
    """The same for a command line in that folder."""
    (folder / "agents.yaml").write_text(AGENTS)
    (folder / "handrail.toml").write_text(
        f'tools = ["{TOOLS}"]\ntenant = "{TENANT}"\nuser = "{PERSON.user}"\npermissions = ["shop.use"]\n'
        f'agents = "agents.yaml"\ndatabase = "{database}"\n\n[policy]\napproval_mode = "policy"\n'
    )


def open_shop(folder: Path, database: str | None = None) -> Handrail:
    """A Handrail that decides as the settings say."""
    file = folder / "agents.yaml"
    file.write_text(AGENTS)
    policy = read_policy(BASE, "parity")
    return Handrail([tools], database=database, policy=policy, agents=load_policies(file))
