"""Finds the entities of texts with the spaCy pipeline, many texts at a time."""

from collections import OrderedDict
from typing import Iterable

from parlai_q2.perturb.entity_swap import Entity
from parlai_q2.text.pipeline import MAX_CHARACTERS, pipeline

# Pipeline components that finding entities does not need.
UNUSED = ('tagger', 'attribute_ruler', 'parser')
BATCH = 256
# How many texts are remembered: enough for the passages of all topics in Wizard of
# Wikipedia, which recur in many conversations, and for the utterances in between.
REMEMBERED = 50_000


class EntityFinder:
    """
    Finds entities, and remembers those of the texts it saw most recently.

    :param remembered: how many texts to remember.
    """

    def __init__(self, remembered: int = REMEMBERED):
        self.remembered = remembered
        self._known: OrderedDict[str, tuple[Entity, ...]] = OrderedDict()

    def find(self, texts: Iterable[str]) -> dict[str, tuple[Entity, ...]]:
        """
        The entities of each text, in order.

        :param texts: the texts; they may repeat.
        :return: each text with its entities, which do not depend on the other texts.
        """
        distinct = list(dict.fromkeys(texts))
        new = [t for t in distinct if t not in self._known]
        found = {t: self._known[t] for t in distinct if t in self._known}
        found.update(zip(new, map(tuple, find_entities(new)), strict=True))
        for text in distinct:
            self._known[text] = found[text]
            self._known.move_to_end(text)
        while len(self._known) > self.remembered:
            self._known.popitem(last=False)
        return found


def find_entities(texts: list[str]) -> Iterable[list[Entity]]:
    """The entities of each text, without remembering them."""
    docs = pipeline().pipe(
        (t[:MAX_CHARACTERS] for t in texts), disable=list(UNUSED), batch_size=BATCH
    )
    for doc in docs:
        yield [Entity(e.text, e.label_) for e in doc.ents]
