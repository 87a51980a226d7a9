"""
Makes Conv-FEVER's examples from conversations (Santhanam et al. 2021).

Each wizard's reply that is based on a sentence gives

- the reply with its sentence, which is consistent;
- two examples by random pairing: one with another reply, one with another sentence;
- up to two by negation: one of the reply, one of the sentence;
- up to two by an entity swap: one in the context, one in the sentence.

What is drawn for a reply depends only on the seed and the reply's place, so that
every build makes the same corpus.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from parlai_q2.perturb.entity_swap import Entity, index_entities, swap_entity
from parlai_q2.perturb.negation import negate
from parlai_q2.tasks.conv_fever.reader import (
    CONTEXT,
    ENTITY_SWAP,
    KNOWLEDGE,
    NEGATION,
    NONE,
    RANDOM_PAIRING,
    RESPONSE,
    ConvFeverExample,
)
from parlai_q2.tasks.wizard_of_wikipedia.reader import WizardConversation

Entities = Mapping[str, Sequence[Entity]]
# The number of draws before all texts are searched (needed only for tiny collections).
TRIES = 50


def draw_other(
    examples: Sequence[ConvFeverExample],
    example: ConvFeverExample,
    part: str,
    draw: random.Random,
) -> ConvFeverExample | None:
    """Draw an example with another text from another conversation, if there is one."""

    def is_other(drawn: ConvFeverExample) -> bool:
        is_same = getattr(drawn, part) == getattr(example, part)
        return drawn.episode != example.episode and not is_same

    for _ in range(TRIES if examples else 0):
        drawn = examples[draw.randrange(len(examples))]
        if is_other(drawn):
            return drawn
    candidates = list(filter(is_other, examples))
    return draw.choice(candidates) if candidates else None


def consistent_examples(conversation: WizardConversation) -> Iterator[ConvFeverExample]:
    """Yield a wizard's replies, each with the sentence it is based on."""
    for place in conversation.replies:
        turn = conversation.turns[place]
        if turn.text:
            yield ConvFeverExample(
                perturbation=NONE,
                perturbed='',
                episode=conversation.episode,
                turn=place,
                topic=conversation.topic,
                title=turn.title,
                context=tuple(t.text for t in conversation.turns[:place]),
                knowledge=str(turn.checked),
                response=turn.text,
            )


def texts_by_part(conversation: WizardConversation) -> dict[str, list[str]]:
    """
    Return the utterances; and, as knowledge, the checked sentences and the passage
    about the topic.
    """
    turns = conversation.turns
    checked = [turn.checked for turn in turns if turn.checked]
    return {
        CONTEXT: [turn.text for turn in turns],
        KNOWLEDGE: [*checked, *conversation.passage],
    }


def texts_to_parse(conversation: WizardConversation) -> list[str]:
    """Return the texts whose entities :func:`make_examples` needs."""
    return [*chain.from_iterable(texts_by_part(conversation).values())]


def make_examples(
    conversation: WizardConversation,
    of_fold: Sequence[ConvFeverExample],
    entities: Entities,
    seed: str,
) -> Iterator[ConvFeverExample]:
    """
    Make all examples of a conversation, reply by reply.

    :param of_fold: the consistent examples of all conversations.
    :param entities: the entities in each of :func:`texts_to_parse`.
    :param seed: with the reply's place, decides what is drawn.
    """
    indexes = {
        part: index_entities(_find_all(texts, entities))
        for part, texts in texts_by_part(conversation).items()
    }
    for example in consistent_examples(conversation):
        place = f'{seed}/{example.episode}/{example.turn}'
        yield example
        yield from paired(example, of_fold, place)
        yield from negated(example, place)
        yield from swapped(example, entities, indexes, place)


def paired(
    example: ConvFeverExample, of_fold: Sequence[ConvFeverExample], seed: str
) -> Iterator[ConvFeverExample]:
    """Yield the example with another reply, and with another sentence."""
    for perturbed in (RESPONSE, KNOWLEDGE):
        draw = _random(seed, RANDOM_PAIRING, perturbed)
        other = draw_other(of_fold, example, perturbed, draw)
        if other is not None:
            title = other.title if perturbed == KNOWLEDGE else example.title
            text = getattr(other, perturbed)
            titled = replace(example, title=title)
            yield _perturb(titled, RANDOM_PAIRING, perturbed, text)


def negated(example: ConvFeverExample, seed: str) -> Iterator[ConvFeverExample]:
    """Yield the example with its reply negated, and with its sentence negated."""
    for perturbed in (RESPONSE, KNOWLEDGE):
        draw = _random(seed, NEGATION, perturbed)
        negation = negate(getattr(example, perturbed), draw)
        if negation:
            yield _perturb(example, NEGATION, perturbed, *negation)


def swapped(
    example: ConvFeverExample,
    entities: Entities,
    indexes: Mapping[str, Mapping[str, Sequence[Entity]]],
    seed: str,
) -> Iterator[ConvFeverExample]:
    """
    Yield the example with an entity swapped in its context, and with one swapped in its
    sentence, if that text shares an entity with the reply. The replacement comes from
    the context or from the knowledge, respectively.
    """
    for perturbed, texts in (
        (CONTEXT, example.context),
        (KNOWLEDGE, (example.knowledge,)),
    ):
        draw = _random(seed, ENTITY_SWAP, perturbed)
        candidates = _find_all(texts, entities)
        swap = swap_entity(
            texts, candidates, example.response, indexes[perturbed], draw
        )
        if swap:
            text = swap.texts if perturbed == CONTEXT else swap.texts[0]
            words = swap.before, swap.after
            yield _perturb(example, ENTITY_SWAP, perturbed, text, *words)


def _perturb(
    example: ConvFeverExample,
    perturbation: str,
    perturbed: str,
    text: str | tuple[str, ...],
    *words: str,
) -> ConvFeverExample:
    """The example with one text changed, and the words before and after, if any."""
    changes: dict[str, Any] = {perturbed: text}
    changes.update(zip(('before', 'after'), words))
    return replace(example, perturbation=perturbation, perturbed=perturbed, **changes)


def _random(*seeds: str) -> random.Random:
    # A string is hashed by its bytes, so every process draws the same numbers.
    return random.Random('/'.join(seeds))


def _find_all(texts: Iterable[str], entities: Entities) -> list[Entity]:
    return [*chain.from_iterable(entities[text] for text in texts)]
