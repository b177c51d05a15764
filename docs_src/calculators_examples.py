"""calculators.md: a calculator called like any tool, and several people's answers taken together."""

import asyncio

# region roi
from handrail import Handrail
from handrail.toolsets.calculators import calculate_roi, score_quickly


async def worth() -> None:
    async with Handrail([calculate_roi]) as hr:
        args = {"initialCost": 1000, "yearlyBenefit": 600, "years": 2, "discountRate": 10}
        out = await hr.call("analysis.calculateRoi", args)
    summary = out.result.data["summary"]
    assert (summary["npv"], summary["payback"], summary["irr"]) == (41.32, 1.67, 13.07)


# endregion


# region group
async def together() -> None:
    async with Handrail([score_quickly]) as hr:
        ana = {"subject": "Offer", "criteria": [{"name": "Price", "score": 8}]}
        bo = {
            "subject": "Offer",
            "criteria": [{"name": "price", "score": 4}, {"name": "Service", "score": 6}],
        }
        outputs = [(await hr.call("assessment.quickScore", args)).result.data for args in (ana, bo)]
    assert score_quickly.aggregate is not None
    summary = score_quickly.aggregate(outputs)["summary"]
    assert (summary["score"], summary["agreement"]) == (65.0, 70.0)
    assert summary["verdict"] == "Offer scores 65 of 100: good, with fair agreement."


# endregion


async def main() -> None:
    await worth()
    await together()


if __name__ == "__main__":
    asyncio.run(main())
