"""
Pools of replies to one turn, for training and measuring the model of relevance: read
from files, and made by rules.

A pool has ``kind``, ``knowledge`` (passages), ``history`` (turns, the user's last) and
``candidates``, each with ``text``, ``g`` (1 supported, 0 not, "n" claims nothing) and
``a`` (2 answers, 1 partly, 0 not, null unknown).
"""

import gzip
import hashlib
import json
import lzma
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

Pool = dict[str, Any]

# Of a pool that people labelled, so many replies are read in a pass.
MOST_REPLIES = 4
# Of so many pools that people labelled, so many are made by each rule.
PER_LABELLED = {
    'qa': 1.0,
    'replay': 5.0,
    'dialogue': 0.4,
    'twins': 0.06,
    'courtesy': 0.045,
    'moved': 0.075,
}
# Replies of dialogues that share less with their knowledge may not rest on it.
LEAST_F1 = 0.3
DECLINES = [
    "Sorry, I don't know.",
    "I'm afraid I can't say.",
    "I couldn't find that, sorry.",
    "That isn't mentioned anywhere I can look.",
    "I don't have any information on that.",
    "Good question, but I don't know the answer.",
    'Sorry, I have nothing about that.',
    "I can't tell you that.",
    "No idea, I'm sorry.",
    "It doesn't say.",
    "I'm not sure about it.",
    "Unfortunately I don't have that information.",
    "I don't know, sorry!",
    "I can't find it.",
]
GENERIC = [
    "That's interesting!",
    'I see.',
    'Great question!',
    'Wow, really?',
    'Yes, I like that too.',
    'What do you think?',
    'That sounds nice.',
    'I hope that helps!',
    'Tell me more.',
    'Cool!',
]
# Turns that ask nothing, and the replies that they deserve.
COURTESIES = {
    'hi|hello there|Hi!|hey|Hi there!|Good morning.|Good evening|hello, anyone?': (
        'Hello! How can I help you?|Hi there!|Hello, nice to meet you.|Hey! What can I '
        'do for you?|Good day! What would you like to know?'
    ),
    'Thanks!|thank you|Great, thanks a lot.|ok thx|That helped, thank you!': (
        "You're welcome!|No problem.|Glad I could help!|My pleasure.|Any time!"
    ),
    'bye|Goodbye!|See you.|have a good day|Good night!': (
        'Goodbye!|Bye, take care.|See you soon!|You too, goodbye!|Have a nice day!'
    ),
    'How are you?|hows it going|How are you doing today?': (
        "I'm fine, thanks! And you?|Very well, thank you.|Good, thanks for asking!"
    ),
}


def read_rows(path: str) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines, which may be packed by gzip or xz."""
    packed: dict[str, Callable[..., Any]] = {'.gz': gzip.open, '.xz': lzma.open}
    with packed.get(Path(path).suffix, open)(path, 'rt', encoding='utf-8') as lines:
        return [json.loads(line) for line in lines if line.strip()]


def is_held_out(pool: Mapping[str, Any]) -> bool:
    """Whether a pool is for development: those of a fifth of the first passages."""
    return int(hashlib.sha1(pool['knowledge'][0].encode()).hexdigest(), 16) % 5 == 0


def is_best(reply: Mapping[str, Any]) -> bool:
    """Whether a reply answers, and claims nothing without support."""
    return reply['g'] != 0 and reply['a'] == 2


def sentences_of(text: str) -> list[str]:
    """Sentences of a passage, good enough for training data."""
    return [s for s in re.split(r'(?<=[.!?])\s+(?=[A-Z"(\d])', text) if len(s) > 15]


def candidate(text: str, supported: Any, answers: int | None) -> dict[str, Any]:
    return {'text': text, 'g': supported, 'a': answers}


class QaPools:
    """
    Pools made from questions on passages.

    :param rows: ``q``, ``c`` (the passage), ``s`` (where the answer starts in it) and
        ``a`` (the answer; empty if there is none).
    """

    def __init__(self, rows: Sequence[dict[str, Any]], longest: int = 90):
        rows = [
            r
            for r in rows
            if r['c'].count(' ') < longest
            and '?' in r['q']
            and not is_held_out({'knowledge': [r['c']]})
        ]
        self.by_passage: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            if row['a']:
                self.by_passage.setdefault(row['c'], []).append(row)
        self.rows = [
            r for r in rows if self._others(r) or not r['a'] and len(r['q']) < 150
        ]
        self.several = [r for r in self.rows if len(sentences_of(r['c'])) > 1]
        self.answers = [r['a'] for r in rows if r['a']]

    def _others(self, row: dict[str, Any]) -> list[dict[str, Any]]:
        """Questions on the same passage with other answers."""
        return [
            o
            for o in self.by_passage.get(row['c'], ())
            if o['a'].lower() not in row['a'].lower()
            and row['a'].lower() not in o['a'].lower()
        ]

    def pool(self, row: dict[str, Any], kind: str, draw: random.Random) -> Pool:
        """:param kind: ``fragment``, ``sentence`` or ``yesno``, if it has an answer."""
        turn, beside = row['q'], [s for s in sentences_of(row['c'])]
        draw.shuffle(beside)
        generic, decline = draw.choice(GENERIC), draw.choice(DECLINES)
        stranger = _sentence(draw.choice(self.answers))
        if not row['a']:
            kind = 'unanswerable'
            found = [candidate(decline, 'n', 2), candidate(stranger, 0, None)]
            found += [candidate(s, 1, 0) for s in beside[:2]]
        else:
            answer, other = row['a'], draw.choice(self._others(row))['a']
            beside = [s for s in beside if answer.lower() not in s.lower()][:2]
            if kind == 'yesno':
                asked = draw.choice((answer, other))
                said = 'Yes' if asked == answer else 'No'
                turn = f'{turn} {draw.choice(("Was it", "Is it", "Maybe"))} {asked}?'
                unsaid = 'No' if said == 'Yes' else 'Yes'
                found = [
                    candidate(f'{said}, {answer}.', 1, 2),
                    candidate(f'{unsaid}, {other}.', 0, 2),
                    candidate(f'{unsaid}.', 0, 2),
                ]
            elif kind == 'fragment':
                found = [candidate(_sentence(answer), 1, 2)]
                found += [candidate(_sentence(other), 0, None)]
            else:
                own = [s for s in sentences_of(row['c']) if answer in s]
                found = [candidate(own[0] if own else f"It's {answer}.", 1, 2)]
                beside = beside or [f'{_sentence(other)}']
            found += [candidate(s, 1, 0) for s in beside if s != _sentence(other)]
            found += [candidate(decline, 'n', 0), candidate(stranger, 0, None)]
        found.append(candidate(generic, 'n', 0))
        found = [*found[:2], *draw.sample(found[2:], min(2, len(found) - 2))]
        return {
            'kind': kind,
            'knowledge': [row['c']],
            'history': [turn],
            'candidates': found,
        }

    def draw(self, draw: random.Random) -> Pool:
        row = draw.choice(draw.choice((self.several, self.several, self.rows)))
        if not row['a'] and draw.random() < 0.5:
            row = draw.choice(self.several)
        kind = draw.choices(('fragment', 'sentence', 'yesno'), (3, 4, 2))[0]
        return self.pool(row, kind, draw)


def _sentence(answer: str) -> str:
    return answer[:1].upper() + answer[1:].rstrip('.') + '.'


def with_other_turns(pools: Sequence[Pool]) -> list[Pool]:
    """
    Pools with one more reply, where there is one: the best of another turn on the same
    passages, which is beside the point here. Without these, the style of a reply gives
    away whether it answers, and a model need not read the turn.
    """
    by_passage: dict[str, list[Pool]] = {}
    for pool in pools:
        by_passage.setdefault(pool['knowledge'][0], []).append(pool)
    found = []
    for pool in pools:
        same = by_passage[pool['knowledge'][0]]
        after = same[(same.index(pool) + 1) % len(same)]
        texts = {one['text'] for one in pool['candidates']}
        others = [
            candidate(one['text'], 1, 0)
            for one in after['candidates']
            if is_best(one) and one['g'] == 1 and one['text'] not in texts
        ]
        found.append({**pool, 'candidates': [*pool['candidates'], *others[:1]]})
    return found


def thinned(pool: Pool, draw: random.Random) -> Pool:
    """
    A pool with its passages in another order and about four of its replies: a best one,
    if there is any, a wrong one, and others.
    """
    left = draw.sample(pool['candidates'], len(pool['candidates']))
    best = [c for c in left if is_best(c)][:1]
    wrong = [c for c in left if c['g'] == 0][:1]
    others = [c for c in left if c not in best and c not in wrong]
    kept = [*best, *wrong, *others[: MOST_REPLIES - len(best) - len(wrong)]]
    passages = draw.sample(pool['knowledge'], len(pool['knowledge']))
    return {**pool, 'knowledge': passages, 'candidates': kept}


def courtesy_pool(knowledge: list[str], draw: random.Random) -> Pool:
    """A greeting or the like, with replies that fit and others."""
    turns, replies = draw.choice(list(COURTESIES.items()))
    wrong = draw.choice([r for r in COURTESIES.values() if r != replies])
    beside = draw.choice(sentences_of(' '.join(knowledge)) or knowledge)
    texts = [(replies, 2), (wrong, 0), (draw.choice(DECLINES), 0)]
    found = [candidate(draw.choice(t.split('|')), 'n', a) for t, a in texts]
    return {
        'kind': 'smalltalk',
        'knowledge': knowledge,
        'history': [draw.choice(turns.split('|'))],
        'candidates': [*found, candidate(beside, 1, 0)],
    }


def moved_pool(pool: Pool, other: Pool, draw: random.Random) -> Pool:
    """A pool on other knowledge, which supports nothing, so that declining is best."""
    claims = [c for c in pool['candidates'] if c['g'] != 'n']
    found = [candidate(c['text'], 0, c['a']) for c in draw.sample(claims, 3)]
    found.append(candidate(draw.choice(DECLINES), 'n', 2))
    knowledge = other['knowledge'] if draw.random() < 0.8 else ['']
    beside = sentences_of(' '.join(knowledge))
    if beside:
        found.append(candidate(draw.choice(beside), 1, 0))
    return {**pool, 'knowledge': knowledge, 'candidates': found}


def twin_pool(row: dict[str, Any]) -> Pool:
    """Two replies of which the words tell which is wrong, without a turn."""
    found = [candidate(row['right'], 1, None), candidate(row['wrong'], 0, None)]
    return {'knowledge': [row['p']], 'history': [], 'candidates': found}


def replay_pool(
    row: Mapping[str, Any], turns: Sequence[Mapping[str, Any]], draw: random.Random
) -> Pool:
    """
    A row of the detector's data, so that support is not forgotten: mostly after a turn
    of some dialogue, which tells nothing of it.
    """
    history = draw.choice(turns)['h'][-1:] if draw.random() < 0.7 else []
    supported = {0: 1, 3: 'n'}.get(row['y'], 0)
    found = [candidate(row['h'], supported, None)]
    return {'knowledge': [row['p']], 'history': history, 'candidates': found}


def dialogue_pool(rows: Sequence[Mapping[str, Any]], draw: random.Random) -> Pool:
    """A turn of a dialogue with what a person said, and what others said elsewhere."""
    row, other = draw.sample(rows, 2)
    found = [candidate(row['r'], 1, 2), candidate(other['r'], 0, 0)]
    return {'knowledge': [row['k']], 'history': row['h'][-3:], 'candidates': found}


class PoolSource:
    """
    Pools in random order, without end.

    :param labelled: pools that people labelled.
    :param qa: makes pools of questions on passages.
    :param twins: ``p`` (a passage), ``right`` and ``wrong`` (replies).
    """

    def __init__(
        self,
        labelled: Sequence[Pool],
        qa: QaPools,
        twins: Sequence[dict[str, Any]],
        detector: Sequence[dict[str, Any]],
        dialogues: Sequence[dict[str, Any]],
    ):
        self.labelled, self.qa, self.twins = with_other_turns(labelled), qa, twins
        self.detector = detector
        self.dialogues = [d for d in dialogues if d['h'] and d['f1'] > LEAST_F1]
        self.asked = [
            p for p in labelled if p['kind'] not in ('statement', 'smalltalk')
        ]

    def draw(self, draw: random.Random) -> Iterator[Pool]:
        rules: dict[str, Callable[[], Pool]] = {
            'qa': lambda: self.qa.draw(draw),
            'twins': lambda: twin_pool(draw.choice(self.twins)),
            'replay': lambda: replay_pool(
                draw.choice(self.detector), self.dialogues, draw
            ),
            'dialogue': lambda: dialogue_pool(self.dialogues, draw),
            'courtesy': lambda: courtesy_pool(
                draw.choice(self.labelled)['knowledge'], draw
            ),
            'moved': lambda: moved_pool(
                draw.choice(self.asked), draw.choice(self.labelled), draw
            ),
        }
        while True:
            for pool in draw.sample(self.labelled, len(self.labelled)):
                yield thinned(pool, draw)
                for name, share in PER_LABELLED.items():
                    for _ in range(int(share + draw.random())):
                        yield rules[name]()
