"""``parlai_q2 distill``: a reranking model's choices become a training set."""

import pytest

from parlai_q2.__main__ import run
from parlai_q2.filtering.judge import FilterReason, Policy, Unit
from parlai_q2.parlai.distillation import judge_replies, references, reply_record
from parlai_q2.scripts import distill
from tests.agents.rerank_toys import MADE, TASK, TOY, trained_generator
from tests.files import read_lines
from tests.filtering.toys import WordScorer, episode
from tests.rerank.toys import ToyScorer

EPISODE = episode(
    ('one', 'a b', 'gold one'), ('two', 'c d', 'gold two'), ('three', None, 'gold 3')
)


def record(text, chosen=None):
    rows = [{'text': chosen or text, 'chosen': True}, {'text': 'x', 'chosen': False}]
    return reply_record({'text': text, 'rerank': rows})


def test_a_reply_becomes_the_label_after_what_people_said():
    replies = [record('a'), record('c'), record('e')]
    judged = references(EPISODE, replies)
    assert [m['text'] for m in judged] == [
        'one',
        'one\ngold one\ntwo',
        'one\ngold one\ntwo\ngold two\nthree',
    ]
    assert [m['labels'] for m in judged] == [['a'], ['c'], ['e']]
    gold = [['gold one'], ['gold two'], ['gold 3']]
    assert [m['gold_labels'] for m in judged] == gold


def test_an_abstention_is_no_reference():
    # What it chose was grounded enough, yet it said something else.
    replies = [record("I'm not sure", chosen='a b'), record('c'), record('c')]
    (turn,), *_ = judge_replies([EPISODE], [replies], WordScorer(), Policy())
    assert turn.decision == (False, FilterReason.ABSTAINED)


def test_episodes_are_dropped_with_all_their_replies():
    episodes = [EPISODE[:2], EPISODE[:2], EPISODE[:2]]
    replies = [
        [record('a b'), record('c d')],
        [record('a b'), record('x y')],
        [record("I'm not sure", chosen='a b'), record('c d')],
    ]
    policy = Policy(unit=Unit.EPISODES)
    judged = list(judge_replies(episodes, replies, WordScorer(), policy))
    assert [len(episode) for episode in judged] == [1] * 6
    assert [turn.decision.reason for (turn,) in judged] == [
        *[FilterReason.GROUNDED] * 2,
        *[FilterReason.EPISODE, FilterReason.NOT_GROUNDED],
        *[FilterReason.ABSTAINED, FilterReason.EPISODE],
    ]


def test_a_q2_task_leaves_the_default_measure():
    parser = distill.DistillScript.setup_args()
    opt = parser.parse_args(['-t', 'parlai_q2.tasks.grounded_sample.agents'])
    assert opt['measure'] == 'consistency'


def run_distill(outfile, *options):
    MADE.clear()
    words = ['distill', '-t', TASK, '--choose', TOY, '--measure', TOY]
    words += ['--no-cuda', '--outfile']
    files = [str(outfile), '--model-file', trained_generator()]
    return run([*words, *files, '--candidate-strategies', 'beam:3', *map(str, options)])


@pytest.fixture
def best(tmp_path):
    return tmp_path / 'best.jsonl'


def test_a_generators_grounded_choices_are_written(best):
    summary = run_distill(best)
    # Ten turns, of which every third has no knowledge.
    assert summary['turns'] == 10
    assert summary['reasons']['dropped']['no knowledge'] == 3
    assert summary['kept'] > 0
    for conversation in read_lines(best):
        ((question_act, answered),) = conversation['dialog']
        words = answered['text'].split()
        shared_words = sum(word in question_act['knowledge'].split() for word in words)
        assert shared_words / len(words) > 0.5
        assert answered['q2_score'] == shared_words / len(words)
        assert question_act['gold_labels']
    replied = read_lines(best.with_name('best.replies.jsonl'))
    assert sum(len(conversation['replies']) for conversation in replied) == 10


def test_another_threshold_costs_no_new_replies(best, monkeypatch):
    first = run_distill(best)
    monkeypatch.setattr(distill, 'create_agent', None)
    assert run_distill(best, '--measure-threshold', '1.0')['kept'] == 0
    assert run_distill(best)['kept'] == first['kept']


def test_replies_are_of_the_data_and_the_scorer_as_they_were(tmp_path):
    data, preset = tmp_path / 'data.jsonl', tmp_path / 'mine.yaml'
    data.write_text('one')
    model = 'model: shipped:q2_mini/consistency'
    sections = ('detector', 'nli', 'question_answering', 'question_generation')
    preset.write_text('\n'.join(f'{name}: {{{model}}}' for name in sections))
    opt = {'jsonfile_datapath': str(data), 'choose': 'q2', 'preset': str(preset)}
    first = distill.describe_run(opt)
    assert (
        distill.describe_run({**opt, 'measure_threshold': 0.9, 'cache': False}) == first
    )
    data.write_text('other')
    assert distill.describe_run(opt) != first
    second = distill.describe_run(opt)
    assert distill.describe_run({**opt, 'choose': 'consistency'}) != second
    # Relevance, which counts in the choice, has models of the preset, too.
    first, second = (
        distill.describe_run({'choose': 'precision', 'preset': preset})
        for preset in ('mini', 'base')
    )
    assert first != second


def test_a_run_that_was_stopped_goes_on(best, monkeypatch):
    whole = run_distill(best.with_name('whole.jsonl'))
    calls, score = [], ToyScorer.score

    def score_or_stop(self, examples):
        calls.append(examples)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return score(self, examples)

    with monkeypatch.context() as patch:
        patch.setattr(ToyScorer, 'score', score_or_stop)
        with pytest.raises(KeyboardInterrupt):
            run_distill(best, '-bs', 1)
    # Two turns make an episode, and one call of the scorer a turn.
    assert 0 < len(read_lines(best.with_name('best.replies.jsonl.part'))) < 5
    again = run_distill(best, '-bs', 2)
    for name in ('turns', 'kept', 'reasons', 'mean_score'):
        assert again[name] == whole[name]
    assert best.read_text() == best.with_name('whole.jsonl').read_text().replace(
        'whole.metadata', 'best.metadata'
    )
