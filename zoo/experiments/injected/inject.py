"""
Injects made-up statements into a known part of the replies.

There are three kinds, after what people found in Wizard of Wikipedia (Dziri et al.
2022, "On the Origin of Hallucinations in Conversational Models", NAACL, section 3: more
than 60 % of its responses say what their knowledge does not, mostly in addition to what
it does): an entity or a number replaced (intrinsic), or a sentence about something else
added after the reply (extrinsic). Each brings at least one name or number that the turn
was not given. By :func:`~parlai_q2.zoo.experiments.injected.claims.made_up`, every
injected reply is thus made up, and no other is.
"""

import random
from collections import Counter
from typing import Callable, NamedTuple, Optional, Sequence

from parlai_q2.text.sentences import sentences
from parlai_q2.zoo.experiments.injected.claims import made_up
from parlai_q2.zoo.experiments.injected.corpus import Turn
from parlai_q2.zoo.train.hard_negatives import HardNegatives

TRIES = 5


class Training(NamedTuple):
    """
    A turn in the form in which it is trained on.

    :param reply: the reply, with or without an injection.
    :param kind: the kind of injection; empty where the reply was left alone.
    """

    turn: Turn
    reply: str
    kind: str


class Injector:
    """
    Makes a made-up reply from a faithful one.

    :param turns: the turns that entities and sentences are taken from.
    :param kinds: the kinds to make; of those that fit, the one made least often so far
        is chosen.
    :param seed: decides every choice.
    """

    def __init__(self, turns: Sequence[Turn], kinds: Sequence[str], seed: int):
        self.turns, self.rng = turns, random.Random(seed)
        negatives = HardNegatives([turn.grounded for turn in turns], seed)
        makers: dict[str, Callable[[Turn], Optional[str]]] = {
            'entity': lambda turn: _reply(negatives.entity(turn.grounded)),
            'number': lambda turn: _reply(negatives.number(turn.grounded)),
            'sentence': self.sentence,
        }
        self.makers = {kind: makers[kind] for kind in kinds}
        self.made: Counter[str] = Counter()

    def of(self, turn: Turn) -> Optional[tuple[str, str]]:
        """
        :return: kind and reply; None where nothing fits.
        """
        for kind in sorted(self.makers, key=lambda k: self.made[k]):
            for _ in range(TRIES):
                reply = self.makers[kind](turn)
                if reply and made_up(reply, turn.given):
                    self.made[kind] += 1
                    return kind, reply
        return None

    def sentence(self, turn: Turn) -> str:
        """
        The reply, followed by a sentence from another turn.
        """
        other = self.rng.choice(self.turns).reply
        more = self.rng.choice(sentences(other)).text
        end = '' if turn.reply.endswith(('.', '!', '?')) else '.'
        return f'{turn.reply}{end} {more}'


def inject(
    turns: Sequence[Turn], rate: float, kinds: Sequence[str], seed: int
) -> list[Training]:
    """
    Give a share of the turns to train on made-up replies.

    :param turns: all turns, with faithful replies.
    :param rate: the share, in (0, 1); the result has less where too few turns fit.
    :return: the turns, in the same order.
    """
    injector = Injector(turns, kinds, seed)
    places = list(range(len(turns)))
    random.Random(seed).shuffle(places)
    wrong: dict[int, tuple[str, str]] = {}
    for place in places:
        if len(wrong) >= round(rate * len(turns)):
            break
        found = injector.of(turns[place])
        if found:
            wrong[place] = found
    return [
        Training(turn, *reversed(wrong.get(place, ('', turn.reply))))
        for place, turn in enumerate(turns)
    ]


def _reply(pair: Optional[tuple[str, str]]) -> Optional[str]:
    return pair[1] if pair else None
