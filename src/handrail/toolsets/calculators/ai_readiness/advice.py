"""What to do first in each dimension."""

from __future__ import annotations

from handrail.toolsets.calculators.ai_readiness.models import Dimension

ADVICE: dict[Dimension, str] = {
    "Strategy": "Name one result, who wants it, and how you will measure it.",
    "Data": "Take the data of one use, give it an owner, and measure how complete it is.",
    "Technology": "Open one system through an interface with rights and a record of each call.",
    "People": "Train those who will use it first, and give them time to try it.",
    "Processes": "Write down one process as it is done, and count its time and its mistakes.",
    "Governance": "Write down what AI may do by itself and where a person decides.",
}
