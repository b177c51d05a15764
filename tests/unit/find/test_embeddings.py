"""An embedder beside the words: what it finds counts as much, and its failures cost nothing."""

from __future__ import annotations

import asyncio
import logging
import math
from typing import Any

import pytest

from handrail import Handrail, Principal, Tool, ToolMatch, define
from handrail.core.find.embeddings import EmbeddingIndex, fuse_rankings
from handrail.ext.ports import Clock, Embedder

ANA = Principal(tenant="acme", user="ana")
CONCEPTS = [{"car", "automobile", "vehicle"}, {"parrot", "bird"}, {"money", "pay", "invoice"}]


def named(tool_id: str, description: str = "Do it.", **options: Any) -> Tool:
    return define(tool_id, {"description": description, "level": "read", "execute": lambda a: 1, **options})


class ByConcept:
    """Vectors that count the words of each concept."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    async def embed(self, texts: list[str], /) -> list[list[float]]:
        self.asked.append(texts)
        await asyncio.sleep(0)
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        words = text.lower().replace(".", " ").split()
        return [0.1, *(float(sum(word in concept for word in words)) for concept in CONCEPTS)]

    @property
    def texts(self) -> list[str]:
        return [text for texts in self.asked for text in texts]


TOOLS = [named("fleet.rent", "Rent a car"), named("zoo.feed", "Feed a bird"), named("bills.pay", "Pay")]


async def ids(hr: Handrail, words: str, **options: Any) -> list[str]:
    return [one.tool.id for one in await hr.search(words, ANA, **options)]


@pytest.mark.req("BY-17")
async def test_a_tool_is_found_by_what_it_means() -> None:
    async with Handrail(TOOLS) as plain, Handrail(TOOLS, embedder=ByConcept()) as hr:
        assert await ids(plain, "automobile") == []
        found = await hr.search("automobile", ANA, limit=1)
    assert [one.tool.id for one in found] == ["fleet.rent"]
    assert found[0].matched == {"meaning": ()} and 0 < found[0].score < 1


@pytest.mark.req("BY-17")
async def test_words_and_meaning_together_are_better_than_either() -> None:
    tools = [*TOOLS, named("fleet.wash", "Wash a vehicle"), named("x.automobile", "Other")]
    async with Handrail(tools, embedder=ByConcept()) as hr:
        found = await hr.search("wash automobile", ANA)
    assert found[0].tool.id == "fleet.wash"
    assert found[0].matched == {"name": ("wash",), "description": ("wash",), "meaning": ()}
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


@pytest.mark.req("BY-17")
async def test_an_exact_name_stays_first() -> None:
    async with Handrail([*TOOLS, named("vehicle", "Other")], embedder=ByConcept()) as hr:
        found = await hr.search("zoo.feed", ANA)
        assert found[0].tool.id == "zoo.feed" and found[0].score == 1.0
        found = await hr.search("vehicle", ANA)
        assert found[0].tool.id == "vehicle" and all(one.score < 1 for one in found[1:])


@pytest.mark.req("BY-17")
async def test_a_tool_is_embedded_once_and_in_batches_and_a_changed_one_again() -> None:
    embedder = ByConcept()
    async with Handrail([named(f"area{n}.thing") for n in range(300)], embedder=embedder) as hr:
        await asyncio.gather(*(ids(hr, "bird") for _ in range(5)))
        await ids(hr, "car")
        assert sorted(len(texts) for texts in embedder.asked) == [1] * 6 + [44, 128, 128]
        hr.registry.register(named("area0.thing", "A bird"), replace=True)
        assert (await ids(hr, "bird"))[0] == "area0.thing"
    assert [len(texts) for texts in embedder.asked[-2:]] == [1, 1]


@pytest.mark.req("BY-17")
async def test_the_embedder_is_shown_nothing_that_the_principal_may_not_see() -> None:
    embedder = ByConcept()
    tools = [*TOOLS, named("secret.plan", "A bird that nobody may see", tenants=["other"])]
    async with Handrail(tools, embedder=embedder) as hr:
        assert "secret.plan" not in await ids(hr, "bird")
    assert not any("nobody" in text for text in embedder.texts)


@pytest.mark.req("BY-17")
async def test_without_words_the_embedder_is_not_asked() -> None:
    embedder = ByConcept()
    async with Handrail(TOOLS, embedder=embedder) as hr:
        assert await ids(hr, " ?") == []
    assert embedder.asked == []


@pytest.mark.req("BY-17")
@pytest.mark.parametrize(
    "answer",
    [
        OSError("no network"),
        [],
        [[1.0, 0.0]],
        None,
        [[0.0, 0.0]] * 3,
        [[math.nan, 1.0]] * 3,
        [[math.inf, 1.0]] * 3,
        [[1.0], [1.0, 2.0], [1.0]],
        [["a", "b"]] * 3,
        [[]] * 3,
        ["text"] * 3,
        [[10**400]] * 3,
    ],
    ids=lambda answer: str(answer)[:30],
)
async def test_an_embedder_that_fails_leaves_the_search_to_words(
    answer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        async def embed(self, texts: list[str], /) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

    with caplog.at_level(logging.ERROR):
        async with Handrail(TOOLS) as plain, Handrail(TOOLS, embedder=Broken()) as hr:
            assert await hr.search("car", ANA) == await plain.search("car", ANA) != []
    assert "the embedder failed" in caplog.text


@pytest.mark.req("BY-17")
async def test_vectors_of_another_length_for_the_question_are_nonsense_too(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Growing:
        length = 1

        async def embed(self, texts: list[str], /) -> list[list[float]]:
            self.length += 1
            return [[1.0] * self.length for _ in texts]

    with caplog.at_level(logging.ERROR):
        async with Handrail(TOOLS, embedder=Growing()) as hr:
            assert await ids(hr, "car") == ["fleet.rent"]
    assert "different lengths" in caplog.text


@pytest.mark.req("BY-17")
async def test_an_embedder_that_failed_is_left_alone_for_a_while_and_its_vectors_are_kept() -> None:
    class Failing(ByConcept):
        failing = True

        async def embed(self, texts: list[str], /) -> list[list[float]]:
            found = await super().embed(texts)
            if self.failing:
                raise OSError("no network")
            return found

    now = [0.0]
    embedder = Failing()
    async with Handrail(TOOLS, embedder=embedder, clock=Clock(ticks=lambda: now[0])) as hr:
        assert await ids(hr, "automobile") == await ids(hr, "automobile") == []
        assert len(embedder.asked) == 1
        embedder.failing = False
        now[0] += 31
        assert (await ids(hr, "automobile"))[0] == "fleet.rent"
        embedder.failing = True
        await ids(hr, "car")
        embedder.failing = False
        now[0] += 31
        embedder.asked.clear()
        assert (await ids(hr, "automobile"))[0] == "fleet.rent"
        assert embedder.asked == [["automobile"]]


@pytest.mark.req("BY-17")
async def test_an_embedder_that_never_answers_is_not_waited_for() -> None:
    class Silent:
        async def embed(self, texts: list[str], /) -> list[list[float]]:
            await asyncio.Event().wait()
            raise AssertionError

    meanings = EmbeddingIndex(Silent(), lambda: 0.0, patience=0.01)
    assert await meanings.nearest("car", TOOLS, 5) == []


@pytest.mark.req("BY-17")
async def test_a_search_that_is_cancelled_while_it_embeds_is_cancelled() -> None:
    began = asyncio.Event()

    class Slow:
        async def embed(self, texts: list[str], /) -> list[list[float]]:
            began.set()
            await asyncio.Event().wait()
            raise AssertionError

    async with Handrail(TOOLS, embedder=Slow()) as hr:
        task = asyncio.create_task(hr.search("car", ANA))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.req("BY-17")
async def test_many_tools_are_compared_as_few_are() -> None:
    tools = [named(f"area{n:04}.thing", "A bird" if n == 700 else "Thing") for n in range(800)]
    async with Handrail(tools, embedder=ByConcept()) as hr:
        assert (await ids(hr, "parrot"))[0] == "area0700.thing"


@pytest.mark.req("BY-17")
def test_ranks_are_fused_by_their_reciprocals() -> None:
    one, two, three, four = (named(f"t.{name}") for name in ("one", "two", "three", "four"))
    by_words = [ToolMatch(one, 0.9, {"name": ("x",)}), ToolMatch(two, 0.8, {})]
    fused = fuse_rankings(by_words, [three, two, four])
    expected = {
        "t.two": 1 / 62 + 1 / 62,
        "t.one": 1 / 61,
        "t.three": 1 / 61,
        "t.four": 1 / 63,
    }
    assert [one.tool.id for one in fused] == list(expected)
    assert [one.score for one in fused] == pytest.approx([value * 61 / 2 for value in expected.values()])


def test_an_embedder_is_known_by_its_method() -> None:
    assert isinstance(ByConcept(), Embedder) and not isinstance(object(), Embedder)
