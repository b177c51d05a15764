"""The whole document under fire, by everybody: no 5xx, no answer that is not described, nothing of others."""

from __future__ import annotations

import pytest

from tests.contract.http_attacks.attacked_server import ROLES, AttackedServer
from tests.contract.http_attacks.schemathesis_fuzz import Attacker, attack, operations

EXAMPLES = 3


@pytest.mark.req("RA-12")
@pytest.mark.fault("F26", "F30")
# The server runs in a thread beside, and may well use chance while an example is drawn.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module")
def test_what_schemathesis_makes_up_is_answered_as_described(attacked: AttackedServer) -> None:
    everybody, described = [Attacker(attacked, role) for role in ROLES], set()
    for number, operation in enumerate(operations(attacked)):
        attack(everybody, operation, EXAMPLES, number)
        described.add(operation.label)
    for one in everybody:
        assert {label for label, _ in one.seen} == described
    answers = {status for one in everybody for _, status in one.seen}
    assert answers >= {200, 401, 403, 404, 422}
