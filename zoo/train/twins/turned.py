"""
Makes twins from the parse of a sentence. In the wrong sentence, two phrases are
exchanged or one is repeated; the right one is the sentence itself, in either voice, or
its comparison from the other side. Exchanges that keep the meaning are left out:
coordinations, symmetric relations, appositions, identities.
"""

import itertools
import random
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from parlai_q2.zoo.train.twins.facts import load_pools
from parlai_q2.zoo.train.twins.twin import CONTRADICTED, Twin

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

MAX_PHRASE_WORDS = 6  # words of a phrase that is moved
SUBJECTS = ('nsubj', 'nsubjpass')
OBJECTS = ('dobj', 'attr', 'pobj', 'dative', 'nsubj', 'nsubjpass')
SYMMETRIC = frozenset(
    """
    meet marry border resemble equal join adjoin accompany agree differ collaborate
    compete fight combine mix merge divorce date share connect link relate associate
    include involve compare correspond rhyme intersect separate exist occur
    """.split()
)
# Prepositions of relations that hold both ways, or of mere lists.
BOTH_WAYS = frozenset(
    """
    with between among like near and including such as beside alongside against
    """.split()
)
# Verbs whose past and participle are alike, besides those in -ed.
PAST_PARTICIPLES = frozenset(
    """
    made led built bought sold found brought taught fought lost kept sent held told won
    hit put paid caught shot fed bred lent met left heard read spent
    """.split()
)
COMPARED = {record.er: record for record in load_pools()['compared']}
_COMPARISON = re.compile(
    r'^(?P<one>[^,;]{3,60}?) (?P<be>is|are|was|were) (?P<much>much |far |slightly |)'
    rf'(?P<how>{"|".join(COMPARED)}) than (?P<other>[^,;.]{{3,60}})(?P<rest>\W*)$',
    re.IGNORECASE,
)


def movable_phrases(doc: 'Doc') -> list['Span']:
    """The noun phrases that may be moved."""
    return [
        chunk
        for chunk in doc.noun_chunks
        if chunk.root.pos_ in ('NOUN', 'PROPN')
        and len(chunk) <= MAX_PHRASE_WORDS
        and chunk.root.dep_ in OBJECTS
        and not _has_child(chunk.root, ('conj', 'cc', 'appos'))
    ]


def _has_child(token: 'Token', relations: tuple[str, ...]) -> bool:
    return any(child.dep_ in relations for child in token.children)


def replace_phrases(
    doc: 'Doc', earlier: 'Span', later: 'Span', first: str, second: str
) -> str:
    """Replace two phrases of a sentence by other words."""

    def gap(span: 'Span') -> str:
        return ' ' if doc[span.end - 1].whitespace_ else ''

    between = doc[earlier.end : later.start].text_with_ws
    head = doc[: earlier.start].text_with_ws
    tail = doc[later.end :].text
    return f'{head}{first}{gap(earlier)}{between}{second}{gap(later)}{tail}'


def changes_meaning(earlier: 'Span', later: 'Span') -> bool:
    """Whether exchanging two phrases changes what the sentence says."""
    head, later_head = earlier.root, later.root
    if (
        head.lemma_.lower() == later_head.lemma_.lower()
        or earlier.text.lower() == later.text.lower()
    ):
        return False
    verb = head.head if head.dep_ in SUBJECTS else None
    if verb is not None and verb.lemma_ in SYMMETRIC:
        return False
    if any(x.dep_ == 'pobj' and x.head.lower_ in BOTH_WAYS for x in (head, later_head)):
        return False
    # "the capital is Paris" is "Paris is the capital"; "Paris is a city" is not.
    if verb is not None and verb.lemma_ == 'be' and later_head.dep_ == 'attr':
        return head.pos_ == 'PROPN' and later[0].lower_ in ('a', 'an')
    return not (head.head == later_head.head and head.dep_ == later_head.dep_ == 'pobj')


def swap_phrases(doc: 'Doc', rng: random.Random) -> tuple[str, str] | None:
    """
    Exchange two phrases or repeat one: the kind of change and the sentence, or None.
    """
    phrases = movable_phrases(doc)
    pairs = [p for p in itertools.combinations(phrases, 2) if changes_meaning(*p)]
    if not pairs:
        return None
    # Arguments of one verb first: they make the sentences that read well.
    arguments = [
        p for p in pairs if p[0].root.dep_ in SUBJECTS and _verb(p[1]) == p[0].root.head
    ]
    earlier, later = rng.choice(
        arguments if arguments and rng.random() < 0.7 else pairs
    )
    roll = rng.random()
    if roll < 0.6:
        return 'swap', replace_phrases(doc, earlier, later, later.text, earlier.text)
    if roll < 0.8:
        words = [t.text_with_ws for t in doc]
        a, b = earlier.root, later.root
        words[a.i], words[b.i] = b.text + a.whitespace_, a.text + b.whitespace_
        return 'heads', ''.join(words)
    text = rng.choice((earlier, later)).text
    return 'repeat', replace_phrases(doc, earlier, later, text, text)


def _verb(span: 'Span') -> 'Token':
    head = span.root.head
    return head.head if span.root.dep_ == 'pobj' else head


def change_voice(doc: 'Doc') -> Iterator[tuple[str, str]]:
    """
    Simple sentences in the other voice, each as (right, with its roles exchanged):
    "A built B." gives "B was built by A." and "A was built by B."
    """
    if len(doc) > 25 or doc[0].lower_ in ('it', 'he', 'she', 'they', 'this', 'we', 'i'):
        return
    for verb in doc:
        form = verb.lower_
        if verb.dep_ != 'ROOT' or not (form.endswith('ed') or form in PAST_PARTICIPLES):
            continue
        kids = {t.dep_: t for t in verb.children}
        if {'conj', 'cc', 'aux', 'neg', 'advcl', 'relcl', 'prt', 'dative'} & set(kids):
            continue
        if verb.tag_ == 'VBD' and {'nsubj', 'dobj'} <= set(kids):
            subject, object_ = kids['nsubj'], kids['dobj']
            a, b = _whole(subject), _whole(object_)
            rest = doc[object_.right_edge.i + 1 :].text
            # "by" ends its phrase, so what follows the object comes before it.
            if a.end != verb.i or b.start != verb.i + 1 or len(a) > 8 or len(b) > 10:
                continue
            if object_.pos_ == 'PRON' or subject.pos_ == 'PRON':
                continue
            tail = rest.rstrip('. ')
            tail = f' {tail}' if tail else ''
            be = _be(object_)
            yield (
                f'{b.text} {be} {form} by {a.text}{tail}.',
                f'{a.text} {_be(subject)} {form} by {b.text}{tail}.',
            )
        elif verb.tag_ == 'VBN' and {'nsubjpass', 'auxpass', 'agent'} <= set(kids):
            agent = next((t for t in kids['agent'].children if t.dep_ == 'pobj'), None)
            subject = kids['nsubjpass']
            if agent is None or kids['auxpass'].lower_ not in ('was', 'were'):
                continue
            a, b = _whole(subject), _whole(agent)
            if a.end != kids['auxpass'].i or len(a) > 10 or len(b) > 8:
                continue
            tail = doc[b.end :].text.rstrip('. ')
            tail = f' {tail}' if tail else ''
            yield f'{b.text} {form} {a.text}{tail}.', f'{a.text} {form} {b.text}{tail}.'


def _whole(token: 'Token') -> 'Span':
    return token.doc[token.left_edge.i : token.right_edge.i + 1]


def _be(noun: 'Token') -> str:
    plural = noun.tag_ in ('NNS', 'NNPS') or _has_child(noun, ('conj',))
    return 'were' if plural else 'was'


def comparison_twin(text: str, rng: random.Random) -> Twin | None:
    """Make a twin by telling a comparison from the other side."""
    match = _COMPARISON.match(text)
    if not match:
        return None
    compared = COMPARED[match['how'].lower()]
    how, opposite = compared.er, compared.opp
    first, second, be, much = (match[n] for n in ('one', 'other', 'be', 'much'))
    other = f'compared with {second}, {first} {be} {how}.'
    if compared.base:
        other = f'{first} {be} not as {compared.base} as {second}.'
    right = rng.choice([f'{second} {be} {much}{opposite} than {first}.', other])
    wrong = rng.choice(
        [
            f'{second} {be} {much}{how} than {first}.',
            f'{first} {be} {much}{opposite} than {second}.',
        ]
    )
    return Twin('comparison', right, wrong, CONTRADICTED)


def turned_twins(doc: 'Doc', rng: random.Random) -> list[Twin]:
    """All twins of a sentence; the right one is the sentence or its other voice."""
    twins = [Twin('voice', right, wrong) for right, wrong in change_voice(doc)]
    if twin := comparison_twin(doc.text, rng):
        twins.append(twin)
    if swap := swap_phrases(doc, rng):
        kind, wrong = swap
        right = twins[0].right if twins and rng.random() < 0.5 else doc.text
        twins.append(Twin(kind, right, wrong))
    return twins
