"""The right passage among others, on texts that say their own number."""

import random

import pytest

from benchmarks.distractors import (
    DISTRACTORS,
    PLACEMENTS,
    WORDS,
    main,
    measure,
    placed,
    read_labelled,
)
from parlai_q2.models.protocols import NliModel, NliProbabilities
from parlai_q2.scorers.consistency import ConsistencyScorer
from parlai_q2.text.sentences import sentences
from tests.files import write_lines


@pytest.fixture
def path(tmp_path):
    records = []
    for n in range(24):
        knowledge = f'Lake n{n} lies far in the north. ' * 20
        depth = n if n % 2 else n + 100
        records += [
            {
                'corpus': 'wow',
                'knowledge': f'{knowledge}Lake n{n} is d{n} deep.',
                'response': f'Lake n{n} is d{depth} deep.',
                'q2_label': 'consistent' if n % 2 else 'inconsistent',
            }
        ]
    records.append({**records[0], 'q2_label': 'generic'})
    records.append({**records[0], 'corpus': 'tc'})
    return write_lines(tmp_path / 'examples.jsonl', *records)


class Words(NliModel):
    """Entails what has no other words."""

    settings = {'detector': 'words'}

    def classify(self, pairs):
        supported = [float(set(h.split()) <= set(p.split())) for p, h in pairs]
        return [NliProbabilities(share, 1 - share, 0.0) for share in supported]


@pytest.mark.parametrize('n', range(2))
def test_the_passage_stands_among_others_of_its_corpus(path, n):
    examples = read_labelled(path, 'wow', 0, 0)
    gold_passage = examples[n].knowledge
    rng = random.Random(n)
    alone, beside, among, inside = (placed(examples, n, w, rng) for w in PLACEMENTS)
    assert alone.example.knowledge_text == gold_passage
    text = beside.example.knowledge_text
    assert text[beside.start : beside.end] == gold_passage
    assert len(sentences(text)) == len(sentences(gold_passage)) + 1
    texts = [passage.text for passage in among.example.knowledge]
    assert len(set(texts)) == DISTRACTORS + 1
    assert texts[among.passage] == gold_passage
    text = inside.example.knowledge_text
    assert text[inside.start : inside.end] == gold_passage
    assert text.count(gold_passage) == 1
    assert WORDS <= len(text.split()) < WORDS + 200


def test_the_right_passage_is_read_and_named(path):
    examples = read_labelled(path, 'wow', 0, 0)
    assert len(examples) == 24
    report = measure(ConsistencyScorer(Words()), examples)
    assert list(report) == list(PLACEMENTS)
    for metrics in report.values():
        assert (metrics.auc.mean, metrics.change.mean) == (1.0, 0.0)
        assert metrics.same.mean == 1.0
        assert metrics.right.mean == metrics.recall.mean == 1.0


def test_the_table_has_a_line_for_each_placement(path, capsys):
    main(['--infile', str(path), '--scorers', 'precision,overlap'])
    rows = capsys.readouterr().out.splitlines()
    assert [row.removeprefix('| ').split(' | ')[:3] for row in rows[2:]] == [
        [scorer, 'wow (24)', placement]
        for scorer in ('precision', 'overlap')
        for placement in PLACEMENTS
    ]
    # Words are counted, and no sentence is named.
    assert all(' | - | 0.000' in row for row in rows[2:])
