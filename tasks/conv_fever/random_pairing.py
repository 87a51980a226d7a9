"""
Pairs a response with knowledge that it does not belong to: one of Conv-FEVER's
perturbations (Santhanam et al. 2021, section 4).

The other half of the pair comes from any other conversation, as in the paper; now and
then it may fit by accident.
"""

import random
from typing import NamedTuple, Optional

# Draws before all texts are searched, which only a tiny collection needs.
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
    Texts to draw from, each with the conversation it belongs to.

    It holds the texts of a whole fold: some 20 MB for the training one.
    """

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._titles: list[str] = []
        self._episodes: list[int] = []

    def __len__(self) -> int:
        return len(self._texts)

    def add(self, text: str, episode: int, title: str = '') -> None:
        """Add one text."""
        self._texts.append(text)
        self._titles.append(title)
        self._episodes.append(episode)

    def draw(self, text: str, episode: int, draw: random.Random) -> Optional[Drawn]:
        """
        Draw another text at random.

        :param text: the text that must not be drawn.
        :param episode: the conversation that it must not come from.
        :param draw: the random numbers.
        :return: the text; None where no other conversation has another text.
        """

        def fits(i: int) -> bool:
            return self._episodes[i] != episode and self._texts[i] != text

        for _ in range(TRIES if self._texts else 0):
            place = draw.randrange(len(self._texts))
            if fits(place):
                return self._drawn(place)
        places = [i for i in range(len(self)) if fits(i)]
        return self._drawn(draw.choice(places)) if places else None

    def _drawn(self, place: int) -> Drawn:
        return Drawn(self._texts[place], self._titles[place])
