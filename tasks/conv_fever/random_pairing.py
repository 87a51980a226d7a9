"""
Pairs a response with knowledge that it does not belong to: one of Conv-FEVER's
perturbations (Santhanam et al. 2021, section 4).

The other half of the pair comes from a conversation about another topic, so that it
does not fit by accident.
"""

import random
from typing import NamedTuple, Optional, Sequence

# Draws before all texts are searched, which only a collection with one topic needs.
TRIES = 50


class Drawn(NamedTuple):
    """
    A text drawn from the pool.

    :param text: the text.
    :param title: the article that it comes from, if any.
    """

    text: str
    title: str


class Pool:
    """
    Texts to draw from, each with the conversation and the topic it belongs to.

    It holds the texts of a whole fold: some 20 MB for the training one.
    """

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._titles: list[str] = []
        self._episodes: list[int] = []
        self._topics: list[str] = []

    def __len__(self) -> int:
        return len(self._texts)

    def add(self, text: str, episode: int, topic: str, title: str = '') -> None:
        """
        Add one text.
        """
        self._texts.append(text)
        self._titles.append(title)
        self._episodes.append(episode)
        self._topics.append(topic)

    def draw(
        self, text: str, episode: int, topic: str, draw: random.Random
    ) -> Optional[Drawn]:
        """
        Draw another text at random.

        :param text: the text that must not be drawn.
        :param episode: the conversation that it must not come from.
        :param topic: the topic that it must not be about, unless there is no other.
        :param draw: the random numbers.
        :return: the text; None where no other conversation has another text.
        """

        def fits(i: int, any_topic: bool = False) -> bool:
            return (
                self._episodes[i] != episode
                and self._texts[i] != text
                and (any_topic or self._topics[i] != topic)
            )

        for _ in range(TRIES if self._texts else 0):
            place = draw.randrange(len(self._texts))
            if fits(place):
                return self._drawn(place)
        places: Sequence[int] = [i for i in range(len(self)) if fits(i)] or [
            i for i in range(len(self)) if fits(i, any_topic=True)
        ]
        return self._drawn(draw.choice(places)) if places else None

    def _drawn(self, place: int) -> Drawn:
        return Drawn(self._texts[place], self._titles[place])
