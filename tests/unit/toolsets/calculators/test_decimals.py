"""How the calculators count and round, and how they measure agreement."""

from __future__ import annotations

from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.toolsets.calculators.agreement import agreement_label, most_common, spread_of
from handrail.toolsets.calculators.decimals import (
    cents,
    format_duration,
    format_number,
    rounded,
    rounded_or_never,
    to_decimal,
    with_decimal_context,
)

RATINGS = st.lists(st.integers(0, 100).map(Decimal), min_size=1, max_size=12)


@pytest.mark.req("CC-09")
@pytest.mark.parametrize(
    ("typed", "shown"),
    [("2.125", 2.12), ("2.135", 2.14), ("2.115", 2.12), ("0.005", 0.0), ("-0.004", 0.0), ("1e12", 1e12)],
)
def test_a_half_goes_to_the_even_neighbour(typed: str, shown: float) -> None:
    assert str(rounded(Decimal(typed))) == str(shown)


def test_a_typed_number_is_meant_as_it_is_typed() -> None:
    assert to_decimal(0.1) + to_decimal(0.2) == to_decimal(0.3)
    assert (
        rounded(to_decimal(1.005)) == 1.0
    )  # in binary it lies below the half, in decimal it is a half: to even
    assert rounded(to_decimal(1.015)) == 1.02  # in binary it lies below the half too, and round() says 1.01


def test_money_is_taken_to_the_cent() -> None:
    assert [cents(one) for one in (0.004, 0.005, 0.015, 1e12)] == [0, 0, Decimal("0.02"), 10**12]


def test_the_program_around_does_not_decide_how_many_digits_count() -> None:
    third = with_decimal_context(lambda: Decimal(1) / 3)
    with localcontext() as context:
        context.prec = 3
        assert len(str(third())) == 62


def test_a_figure_in_a_sentence_is_short() -> None:
    assert [format_number(1234.5), format_number(3.0), format_number(-7.25, 1), format_number(1000000.0)] == [
        "1,234.50",
        "3",
        "-7.2",
        "1,000,000",
    ]
    assert [format_duration(0, "year"), format_duration(1, "year"), format_duration(2.5, "month")] == [
        "at once",
        "in 1 year",
        "in 2.5 months",
    ]
    assert (rounded_or_never(None), rounded_or_never(Decimal("1.005"))) == ("Never", 1.0)


@pytest.mark.req("CC-09")
def test_the_spread_of_four_ratings_by_hand() -> None:
    # 2, 4, 4, 6: mean 16/4 = 4; squares 4 + 0 + 0 + 4 = 8, /4 = 2, root 1.4142...
    # agreement on a scale of 0 to 10: 1 - 1.4142/5 = 71.7157 %
    spread = spread_of([Decimal(one) for one in (6, 2, 4, 4)], Decimal(0), Decimal(10))

    assert [spread.count, spread.mean, spread.low, spread.high] == [4, 4, 2, 6]
    assert rounded(spread.deviation, 4) == 1.4142
    assert spread.agreement is not None and rounded(spread.agreement, 4) == 71.7157


@pytest.mark.req("CC-09")
def test_agreement_goes_from_none_to_all() -> None:
    def of(*values: int) -> Decimal | None:
        return spread_of([Decimal(one) for one in values], Decimal(1), Decimal(5)).agreement

    assert [of(3), of(3, 3, 3), of(1, 5)] == [None, 100, 0]
    assert [agreement_label(one) for one in (None, 80, 60, 59.9)] == ["one voice", "strong", "fair", "weak"]


@given(RATINGS, st.randoms())
def test_a_spread_knows_no_order_and_stays_within_its_scale(values: list[Decimal], chance: object) -> None:
    mixed = list(values)
    chance.shuffle(mixed)  # type: ignore[attr-defined]  # the strategy says only that it is a Random
    spread = spread_of(values, Decimal(0), Decimal(100))

    assert spread_of(mixed, Decimal(0), Decimal(100)) == spread
    assert spread.low <= spread.mean <= spread.high
    assert spread.agreement is None or 0 <= spread.agreement <= 100


def test_a_name_is_spelt_as_most_people_spell_it() -> None:
    assert most_common(["price", "Price", "Price"]) == "Price"
    assert most_common(["b", "a"]) == most_common(["a", "b"]) == "a"
