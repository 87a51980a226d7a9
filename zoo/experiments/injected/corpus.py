"""
Chooses the experiment's turns from a corpus of grounded replies.

The input is records with ``k`` (knowledge), ``h`` (turns before) and ``r`` (reply). A
turn is taken if it is short, is written with capital letters (by which names are
recognised), and its reply has no name or number that it was not given. Each piece of
knowledge gives only one turn, so that the held-out turns are about other things than
the training turns.
"""

import random
import re
from dataclasses import dataclass
from itertools import islice
from typing import Any, Iterable, Sequence

from parlai_q2.errors import InputError
from parlai_q2.text.overlap import token_overlap
from parlai_q2.zoo.experiments.injected.claims import made_up, names
from parlai_q2.zoo.experiments.injected.settings import Settings
from parlai_q2.zoo.train.hard_negatives import (
    LEAST_PRECISION,
    Grounded,
    read_grounded,
)

# "st. john ' s , newfoundland": corpora written like this have no capitals.
_TOKENISED = re.compile(r' [.,!?](?: |$)| n?\' ?\w\b| - ')
LEAST_WORDS = 5  # of a reply, and of knowledge
AT_ONCE = 256  # turns that are parsed together


@dataclass(frozen=True)
class Turn:
    """
    One turn.

    :param key: its place in the corpus.
    :param text: the turn to reply to; empty where the reply comes first.
    :param grounded: the knowledge, the reply, and the reply's entities.
    """

    key: int
    text: str
    grounded: Grounded

    @property
    def knowledge(self) -> str:
        return self.grounded.knowledge

    @property
    def reply(self) -> str:
        return self.grounded.response

    @property
    def given(self) -> str:
        """
        Everything that a reply to this turn may mention.
        """
        return f'{self.knowledge}\n{self.text}'


def choose(
    rows: Sequence[dict[str, Any]], settings: Settings
) -> tuple[list[Turn], list[Turn]]:
    """
    Choose the turns to train on and the turns that are held out.

    :param rows: the corpus.
    :param settings: how many turns and how long, and the seed of the choice.
    :return: both, with no knowledge in common.
    :raises InputError: when the corpus has too few turns.
    """
    wanted = settings.turns + settings.held_out
    found: list[Turn] = []
    candidates = iter(_candidates(rows, settings))
    while len(found) < wanted:
        some = list(islice(candidates, AT_ONCE))
        if not some:
            break
        found += _grounded(some)
    if len(found) < wanted:
        raise InputError(
            f'--data has {len(found)} turns of the wanted kind, but {wanted} are '
            'asked for. Lower turns and held_out in --settings, or raise the '
            'lengths.'
        )
    return found[settings.held_out : wanted], found[: settings.held_out]


def _candidates(
    rows: Sequence[dict[str, Any]], settings: Settings
) -> Iterable[tuple[int, str, str, str]]:
    places = list(range(len(rows)))
    random.Random(settings.data_seed).shuffle(places)
    seen = set()
    for place in places:
        knowledge, reply = rows[place]['k'].strip(), rows[place]['r'].strip()
        text = rows[place]['h'][-1].strip() if rows[place]['h'] else ''
        long = (
            len(knowledge.split()) > settings.knowledge_words
            or len(reply.split()) > settings.reply_words
            or len(text.split()) > settings.text_words
        )
        short = min(len(knowledge.split()), len(reply.split())) < LEAST_WORDS
        spaced = _TOKENISED.search(knowledge) or _TOKENISED.search(reply)
        if long or short or spaced or knowledge in seen or not names(knowledge):
            continue
        # The cheap checks come before the parse.
        if token_overlap(knowledge, reply).precision < LEAST_PRECISION:
            continue
        if not made_up(reply, f'{knowledge}\n{text}'):
            seen.add(knowledge)
            yield place, text, knowledge, reply


def _grounded(held: Sequence[tuple[int, str, str, str]]) -> list[Turn]:
    read = read_grounded([(knowledge, reply) for *_, knowledge, reply in held])
    # read_grounded leaves out what is not grounded; the knowledge identifies the rest.
    by_knowledge = {one.knowledge: one for one in read}
    return [
        Turn(key, text, by_knowledge[knowledge])
        for key, text, knowledge, _ in held
        if knowledge in by_knowledge
    ]
