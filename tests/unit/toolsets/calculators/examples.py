"""One plain input for each calculator, by its slug."""

from __future__ import annotations

from typing import Any

EXAMPLES: dict[str, dict[str, Any]] = {
    "roi-calculator": {"initialCost": 120_000, "yearlyBenefit": 68_000},
    "time-savings-calculator": {"minutesBefore": 30, "minutesAfter": 10, "tasksPerWeek": 12, "people": 8},
    "ai-readiness-assessment": {
        "strategy": {"goals": 3, "sponsorship": 4, "useCases": 5},
        "data": {"quality": 1, "access": 1, "ownership": 3},
        "technology": {"infrastructure": 3, "integration": 3, "security": 3},
        "people": {"skills": 3, "literacy": 3, "openness": 3},
        "processes": {"documented": 2, "measured": 3, "changeable": 4},
        "governance": {"policy": 3, "oversight": 3, "compliance": 3},
    },
    "complexity-estimator": {
        "items": [
            {"name": "Import", "optimistic": 2, "likely": 4, "pessimistic": 12},
            {"name": "Pages", "optimistic": 6, "likely": 9, "pessimistic": 18},
        ]
    },
    "priority-matrix": {
        "items": [
            {"name": "Search", "impact": 8, "effort": 2},
            {"name": "Rewrite", "impact": 9, "effort": 9, "confidence": 50},
            {"name": "Labels", "impact": 3, "effort": 1},
        ]
    },
    "process-automation-scoper": {
        "process": "Checking of invoices",
        "runsPerMonth": 400,
        "minutesPerRun": 15,
        "steps": 8,
        "systems": 2,
        "exceptionRate": 10,
        "ruleClarity": 4,
        "structuredInput": 4,
        "stability": 5,
    },
    "fte-impact-calculator": {
        "teamSize": 7,
        "unitsPerMonth": 2816,
        "minutesPerUnit": 20,
        "timeCut": 50,
        "shareAffected": 50,
        "volumeGrowth": 25,
    },
    "quick-score": {
        "subject": "Offer of Alder Works",
        "criteria": [
            {"name": "Price", "score": 8, "weight": 3},
            {"name": "Service", "score": 4.5, "weight": 2},
            {"name": "Speed", "score": 7},
        ],
    },
}
