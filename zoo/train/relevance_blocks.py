"""
Blocks of turns and replies for training the relevance model. A reply that answers one
turn of a block is irrelevant after another, so its style carries no information and the
model has to read the turn.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from parlai_q2.errors import ConfigError
from parlai_q2.text.questions import only_declines
from parlai_q2.zoo.train.block import (
    DECLINES,
    GENERIC,
    STOCK,
    TrainingBlock,
    are_alike,
    ask_again,
    blurred,
    change_number,
    find_fragments,
    is_beside,
    word_answer,
)
from parlai_q2.zoo.train.relevance_pools import (
    Pool,
    group_rows,
    is_best,
    is_held_out_pool,
    sentences_of,
    yes_no_question,
)
from parlai_q2.zoo.train.rows import Row

# The support of each of the detector's classes (entailed, neutral, contradicted,
# generic), and the sources of its data that resemble replies.
SUPPORTED = {0: 1.0, 3: 1.0}
REPLAYED = frozenset(
    'd-syn-clause d-syn-ent d-syn-random d-syn-neg d-syn-num d-syn-ant d-syn-verb '
    'd-syn-samedoc d-syn-2ent d-syn-addclause d-syn-copy d-syn-qa d-syn-passive '
    'd-tc-unsup d-gen-cmu d-gen-tc d-fever d-fever-rte d-fever-nei d-wsplit d-fm2 '
    'd-halueval halueval-qa-k halueval-qa-eq wikiresnli fever fever-nei-page '
    'fool-me-twice'.split()
)
# Replies of dialogues that share less with their knowledge may not rest on it.
LEAST_F1 = 0.3
# Replies that share less than this are chat that the knowledge does not support.
MOST_CHAT_F1 = 0.2
LONGEST_PASSAGE = 600


class BlockSource:
    """
    Draws random blocks without end.

    :param pools: pools that people labelled; the held-out ones are left out.
    :param questions: ``q``, ``c`` (the passage) and ``a`` (the answer in it, or empty).
    :param replies: ``h`` (turns), ``k`` (the knowledge) and ``r`` (a generator's
        reply).
    :param dialogues: ``k``, ``h``, ``r`` (a person's reply) and ``f1`` (of ``r`` and
        ``k``).
    :param twins: ``p`` (the passage), ``right`` and ``wrong`` (replies).
    :param detector: ``p``, ``h`` (the reply), ``y`` (the class) and ``src`` (the
        source).
    :raises ConfigError: if one of the others lacks a kind of rows; names its option.
    """

    def __init__(
        self,
        pools: Sequence[Pool],
        questions: Sequence[Row],
        replies: Sequence[Row],
        dialogues: Sequence[Row],
        twins: Sequence[Row] = (),
        detector: Sequence[Row] = (),
    ):
        self.by_support: dict[float, list[Row]] = defaultdict(list)
        for row in detector:
            if row['src'] in REPLAYED:
                self.by_support[SUPPORTED.get(row['y'], 0.0)].append(row)
        self.twins = [t for t in twins if len(t['p']) < LONGEST_PASSAGE]
        self.pools = [p for p in pools if not is_held_out_pool(p)]
        self.by_passage = group_rows(self.pools, lambda p: p['knowledge'][0])
        short = [
            r for r in questions if '?' in r['q'] and len(r['c']) < LONGEST_PASSAGE
        ]
        self.unanswerable = [r for r in short if not r['a']]
        groups = group_rows([r for r in short if r['a']], lambda r: r['c'])
        self.several = [g for g in groups.values() if len(g) > 1]
        self.long = [g for g in groups.values() if len(sentences_of(g[0]['c'])) > 1]
        self.replies = [r for r in replies if r['h']]
        self.dialogues = [d for d in dialogues if d['h'] and d['f1'] > LEAST_F1]
        self.chat = [d for d in dialogues if d['f1'] < MOST_CHAT_F1]
        same = group_rows(self.dialogues, lambda d: d['k']).values()
        self.same_knowledge = [g for g in same if len(g) > 1]
        self._left: list[Pool] = []
        for option, what, rows, least in (
            ('pools', 'outside the held-out fifth', self.pools, 1),
            ('questions', 'without an answer', self.unanswerable, 1),
            ('questions', 'with two answers in one passage', self.several, 1),
            ('questions', 'with answers in several sentences', self.long, 1),
            ('replies', 'with turns', self.replies, 3),
            ('dialogues', 'that share words with their knowledge', self.dialogues, 2),
            ('dialogues', 'with the same knowledge', self.same_knowledge, 1),
            ('dialogues', 'that do not rest on their knowledge', self.chat, 1),
        ):
            if len(rows) < least:
                raise ConfigError(f'--{option} has too few rows {what}.')

    def draw(self, draw: random.Random) -> Iterator[TrainingBlock]:
        # The relative frequency of each rule.
        rules: dict[Callable[[random.Random], TrainingBlock], float] = {
            self._labelled: 0.06,
            self._questions: 0.05,
            self._yes_no: 0.02,
            lambda d: _own_and_other(d.sample(self.replies, 3)): 0.02,
            lambda d: _own_and_other(d.sample(self.dialogues, 2)): 0.01,
            self._courtesies: 0.02,
            self._choices: 2.0,
            self._question_choices: 0.18,
            self._dialogue_choices: 0.03,
            self._chat_choices: 0.08,
            self._right_answers: 0.03,
            self._polarity: 0.04,
            self._twins: 0.08 if self.twins else 0.0,
            self._replay: 0.12 if self.by_support else 0.0,
        }
        while True:
            (rule,) = draw.choices(list(rules), list(rules.values()))
            block = rule(draw)
            if block.pairs:
                yield blurred(block, draw)

    def _labelled(self, draw: random.Random) -> TrainingBlock:
        """Two turns of labelled pools, on the same passage if possible."""
        pool = draw.choice(self.pools)
        same = [
            p
            for p in self.by_passage[pool['knowledge'][0]]
            if not are_alike(p['history'][-1], pool['history'][-1])
        ]
        other = draw.choice(same or self.pools)
        block = TrainingBlock([pool['history'], other['history']])
        for own, foreign, some in ((0, 1, pool), (1, 0, other)):
            for reply in _thinned(some, draw):
                rates = reply['g'] != 0 and _rates_knowledge(reply, some)
                labels = {} if rates else {own: reply['a'] / 2}
                if not rates and reply['a'] == 2 and other is not pool:
                    labels[foreign] = 0.0
                block.add(reply['text'], relevance=labels)
        return block

    def _questions(self, draw: random.Random) -> TrainingBlock:
        """Questions on one passage, their answers, and irrelevant replies."""
        rows = draw.choice(self.several if draw.random() < 0.7 else self.long)
        rows = draw.sample(rows, min(len(rows), draw.choice((2, 3))))
        block = TrainingBlock([[row['q']] for row in rows])
        own = sentences_of(rows[0]['c']) or [rows[0]['c']]
        for n, row in enumerate(rows):
            text = word_answer(row['a'], own, draw)
            labels = {n: 1.0}
            for m, other in enumerate(rows):
                if m != n and is_beside(text, row, other):
                    labels[m] = 0.0
            block.add(text, relevance=labels)
        answers = [row['a'].lower() for row in rows]
        beside = [s for s in own if not any(a in s.lower() for a in answers)]
        for text in draw.sample(beside, min(len(beside), 1)):
            block.add(text, relevance=dict.fromkeys(range(len(rows)), 0.0))
        if draw.random() < 0.3:
            block.add(draw.choice(GENERIC), relevance={0: 0.0})
        if len(rows) > 1 and draw.random() < 0.25:
            block.turns[0] = [rows[1]['q'], block.replies[1], rows[0]['q']]
        return block

    def _yes_no(self, draw: random.Random) -> TrainingBlock:
        """A yes-no question made from a sentence, and a question of another kind."""
        for _ in range(50):
            rows = draw.choice(self.long)
            own = sentences_of(rows[0]['c'])
            found = [(s, q) for s in own if (q := yes_no_question(s))]
            if found:
                break
        else:
            return TrainingBlock()
        sentence, (asked, auxiliary, negated) = draw.choice(found)
        row = draw.choice(rows)
        block = TrainingBlock([[asked], [row['q']]])
        short = draw.choice((f'Yes, it {auxiliary}.', 'Yes.', 'Yes, certainly.', 'Yes'))
        if draw.random() < 0.5:
            short = draw.choice((f'No, it {auxiliary} not.', 'No.', "No, I'm afraid."))
        block.add(short, relevance={0: 1.0, 1: 0.0})
        block.add(draw.choice((sentence, f'Yes, {negated}.')), relevance={0: 1.0})
        if row['a'].lower() not in sentence.lower():
            block.add(word_answer(row['a'], own, draw), relevance={0: 0.0, 1: 1.0})
        beside = [s for s in own if s != sentence and not are_alike(s, sentence)]
        if beside:
            block.add(draw.choice(beside), relevance={0: 0.0})
        return block

    def _courtesies(self, draw: random.Random) -> TrainingBlock:
        """Two courtesies, such as a greeting and thanks, and a question."""
        kinds = draw.sample(STOCK['courtesies'], 2)
        pool = draw.choice(self.pools)
        block = TrainingBlock([[draw.choice(kind['turns'])] for kind in kinds])
        block.turns.append(pool['history'])
        for n, kind in enumerate(kinds):
            labels = {n: 1.0, 1 - n: 0.0}
            if pool['kind'] not in ('statement', 'smalltalk'):
                labels[2] = 0.0
            block.add(draw.choice(kind['replies']), relevance=labels)
        reply = draw.choice(pool['candidates'])
        if reply['g'] == 1:
            block.add(reply['text'], relevance={0: 0.0, 1: 0.0, 2: reply['a'] / 2})
        if draw.random() < 0.5:
            block.add(draw.choice(DECLINES), relevance={0: 0.0})
        return block

    def _choices(self, draw: random.Random) -> TrainingBlock:
        """
        A turn of a labelled pool with its passages and replies, and another turn on the
        same passages with one of its best replies.
        """
        pool = self._next_pool(draw)
        passages = draw.sample(pool['knowledge'], len(pool['knowledge']))
        block = TrainingBlock([pool['history']], knowledge=[' '.join(passages)] * 2)
        replies = draw.sample(pool['candidates'], len(pool['candidates']))
        others = [
            p
            for p in self.by_passage[pool['knowledge'][0]]
            if p is not pool and not are_alike(p['history'][-1], pool['history'][-1])
        ]
        other = draw.choice(others) if others else None
        if other:
            block.turns.append(other['history'])
        for reply in replies:
            best = {0: is_best(reply)}
            if other and reply['g'] == 1 and best[0]:
                best[1] = False
            support = {} if reply['g'] == 'n' else {0: float(reply['g'])}
            block.add(reply['text'], best=best, support=support)
        if other:
            right = [r for r in other['candidates'] if is_best(r) and r['g'] == 1]
            for reply in draw.sample(right, min(len(right), 1)):
                block.add(reply['text'], best={0: False, 1: True})
        declines = [r for r in replies if r['g'] == 'n']
        if not declines and draw.random() < 0.4:
            block.add(draw.choice(DECLINES), best={0: False})
        return block

    def _next_pool(self, draw: random.Random) -> Pool:
        """Draw the pools in turn, so that each is read equally often."""
        if not self._left:
            self._left = draw.sample(self.pools, len(self.pools))
        return self._left.pop()

    def _question_choices(self, draw: random.Random) -> TrainingBlock:
        """A question on a passage, its answer, and wrong and irrelevant replies."""
        if draw.random() < 0.25:
            row = draw.choice(self.unanswerable)
            block = TrainingBlock([[row['q']]], knowledge=[row['c']])
            block.add(draw.choice(DECLINES), best={0: True})
            own = draw.sample(sentences_of(row['c']) or [row['c']], 1)
            fragments = find_fragments(row['c'], '')
            if fragments:
                own.append(word_answer(draw.choice(fragments), (), draw))
            for text in own:
                block.add(text, best={0: False})
            return block
        rows = draw.choice(self.several if draw.random() < 0.6 else self.long)
        row, *rest = draw.sample(rows, len(rows))
        block = TrainingBlock([[row['q']]], knowledge=[row['c']])
        own = sentences_of(row['c'])
        right = word_answer(row['a'], own, draw)
        block.add(right, best={0: True}, support={0: 1.0})
        beside = [s for s in own if row['a'].lower() not in s.lower()]
        for text in draw.sample(beside, min(len(beside), 1)):
            block.add(text, best={0: False})
        fragments = find_fragments(row['c'], row['a'])
        other = next((r for r in rest if is_beside(right, row, r)), None)
        if other:
            text = word_answer(other['a'], own, draw)
            if row['a'].lower() not in text.lower():
                block.add(text, best={0: False})
                if len(block.turns) < 2 and draw.random() < 0.5:
                    block.turns.append([other['q']])
                    block.knowledge = [row['c']] * 2
                    block.best[1, 0] = False
                    block.best[1, len(block.replies) - 1] = True
        elif fragments:
            block.add(word_answer(draw.choice(fragments), (), draw), best={0: False})
        if draw.random() < 0.5:
            block.add(draw.choice(DECLINES), best={0: False})
        changed = change_number(right, draw)
        if changed and draw.random() < 0.5 and changed not in row['c']:
            block.add(changed, best={0: False}, support={0: 0.0})
        if draw.random() < 0.15 and fragments:
            block = ask_again(row, draw.choice(fragments), draw)
        return block

    def _dialogue_choices(self, draw: random.Random) -> TrainingBlock:
        """A person's reply, and replies to other turns, one with the same knowledge."""
        row, *others = draw.sample(draw.choice(self.same_knowledge), 2)
        stranger = draw.choice(self.dialogues)
        block = TrainingBlock([row['h']], knowledge=[row['k']])
        block.add(row['r'], best={0: True})
        for other in (*others, stranger):
            if not are_alike(other['r'], row['r']):
                block.add(other['r'], best={0: False})
        return block

    def _chat_choices(self, draw: random.Random) -> TrainingBlock:
        """A generator's reply, other replies, and additions beyond its knowledge."""
        row, other = draw.sample(self.replies, 2)
        chat = draw.choice(self.chat)['r']
        block = TrainingBlock([row['h'][-3:]], knowledge=[row['k']])
        block.add(row['r'], best={0: True}, support={0: 1.0})
        block.add(other['r'], best={0: False}, support={0: 0.0})
        block.add(chat, best={0: False})
        added = draw.choice((other['r'], chat))
        parts = [row['r'], added] if draw.random() < 0.5 else [added, row['r']]
        block.add(' '.join(parts), best={0: False}, support={0: 0.0})
        changed = change_number(row['r'], draw)
        if changed and changed not in row['k']:
            block.add(changed, best={0: False}, support={0: 0.0})
        if draw.random() < 0.3:
            block.add(draw.choice(GENERIC), best={0: False})
        return block

    def _right_answers(self, draw: random.Random) -> TrainingBlock:
        """Two questions on a passage; the answer to one is wrong for the other."""
        rows = draw.choice(self.several)
        rows = draw.sample(rows, 2)
        block = TrainingBlock(
            [[row['q']] for row in rows], knowledge=[rows[0]['c']] * 2
        )
        sentences = sentences_of(rows[0]['c'])
        for n, row in enumerate(rows):
            other = rows[1 - n]
            whole = draw.random() < 0.25
            text = word_answer(row['a'], sentences if whole else (), draw)
            labels = {n: 1.0}
            apart = row['a'].lower() not in other['a'].lower()
            apart = apart and other['a'].lower() not in text.lower()
            if whole and text in sentences:
                labels[1 - n] = 1.0
            elif apart and not are_alike(row['q'], other['q']):
                labels[1 - n] = 0.0
            block.add(text, support=labels)
        stranger = draw.choice(draw.choice(self.several))['a']
        if stranger.lower() not in rows[0]['c'].lower():
            block.add(word_answer(stranger, (), draw), support={0: 0.0})
        changed = change_number(block.replies[0], draw)
        if changed:
            block.add(changed, support={0: 0.0})
        return block

    def _polarity(self, draw: random.Random) -> TrainingBlock:
        """Yes-no questions made from a sentence, and from it with another number."""
        for _ in range(80):
            own = sentences_of(draw.choice(self.long)[0]['c'])
            sentence = draw.choice(own)
            asked = yes_no_question(sentence)
            changed = change_number(sentence, draw)
            other = yes_no_question(changed) if changed else None
            if asked and other:
                break
        else:
            return TrainingBlock()
        block = TrainingBlock([[asked[0]], [other[0]]], knowledge=[' '.join(own)] * 2)
        yes, no = draw.choice((('Yes.', 'No.'), ('Yes, it is true.', "No, it isn't.")))
        block.add(yes, support={0: 1.0, 1: 0.0})
        block.add(no, support={0: 0.0, 1: 1.0})
        block.add(f'No, {asked[2]}.', support={1: 1.0})
        block.add(f'Yes, {other[2]}.', support={0: 0.0})
        return block

    def _twins(self, draw: random.Random) -> TrainingBlock:
        """A twin after a random turn; the words alone tell which reply is wrong."""
        row = draw.choice(self.twins)
        turns = draw.choice(self.dialogues)['h'][-1:]
        block = TrainingBlock(
            [turns if draw.random() < 0.6 else []], knowledge=[row['p']]
        )
        block.add(row['right'], support={0: 1.0})
        block.add(row['wrong'], support={0: 0.0})
        return block

    def _replay(self, draw: random.Random) -> TrainingBlock:
        """Rows of the detector's data, each after a random, unrelated turn."""
        labels = draw.choices(list(self.by_support), k=5)
        rows = [draw.choice(self.by_support[label]) for label in labels]
        block = TrainingBlock(knowledge=[row['p'] for row in rows])
        for n, (row, label) in enumerate(zip(rows, labels, strict=True)):
            turns = draw.choice(self.dialogues)['h'][-1:]
            block.turns.append(turns if draw.random() < 0.7 else [])
            block.add(row['h'], support={n: label})
        return block


def _thinned(pool: Pool, draw: random.Random) -> list[Row]:
    """Thin a pool to at most four replies, two of which answer if possible."""
    left = draw.sample(pool['candidates'], len(pool['candidates']))
    answers = [r for r in left if r['a'] == 2]
    others = [r for r in left if r['a'] != 2]
    return [*answers[:2], *others[: draw.choice((1, 1, 2))]]


def _rates_knowledge(reply: Row, pool: Pool) -> bool:
    """Whether a reply says that the knowledge has no answer."""
    if pool['kind'] == 'unanswerable':
        return bool(reply['a'] == 2)
    return reply['g'] == 'n' and only_declines(reply['text'])


def _own_and_other(rows: Sequence[Row]) -> TrainingBlock:
    """Turns of dialogues; each reply answers its own turn and no other."""
    block = TrainingBlock([list(row['h']) for row in rows])
    for n, row in enumerate(rows):
        block.add(row['r'], relevance={m: float(m == n) for m in range(len(rows))})
    return block
