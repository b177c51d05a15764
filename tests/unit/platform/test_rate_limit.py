"""Rate: what a bucket gives, whatever is taken from it and when."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from handrail.platform.rate_limit import RateLimiter


@given(
    st.floats(0.1, 1_000),
    st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 5)), max_size=60),
)
def test_nobody_gets_more_than_the_burst_and_the_rate_and_whoever_waits_gets_one(
    per_second: float, visits: list[tuple[str, float]]
) -> None:
    now, taken = 0.0, {"a": 0, "b": 0}
    rate = RateLimiter(per_second, lambda: now)
    for name, pause in visits:
        now += pause
        wait = rate.wait(name)
        if wait:
            now += wait * (1 + 1e-9) + 1e-9
            assert rate.wait(name) == 0
        taken[name] += 1
        assert taken[name] <= max(1.0, 2 * per_second) + now * per_second + 1e-6


def test_many_names_do_not_fill_the_memory_nor_free_whoever_is_held() -> None:
    now = 0.0
    rate = RateLimiter(1.0, lambda: now)
    assert [rate.wait("held") for _ in range(3)] == [0, 0, 1.0]
    for number in range(10_050):
        rate.wait(f"key {number}")
        now += 1e-6
    assert len(rate._buckets) <= 10_000
