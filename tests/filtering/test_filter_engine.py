"""What ``filter`` keeps of a run that stopped, and what it makes of scored files."""

import json
from importlib.util import find_spec

import pytest

from parlai_q2.__main__ import run
from parlai_q2.cache import ScoreCache
from parlai_q2.cli.commands import run_command
from parlai_q2.errors import ConfigError, InputError
from parlai_q2.filtering.judge import Policy, decide_batches, group_episodes
from parlai_q2.filtering.label_scoring import LabelJob, score_batches
from parlai_q2.runs.file_run import LocalEngine
from parlai_q2.scorers.shell import Reuse
from tests.files import read_lines, write_lines
from tests.filtering.toys import SCORER, TASK, WordScorer, episode, said

EPISODES = [
    episode((f'{n}', 'a b c', f'a b{" c" * n}'), (f'{n} so', 'a b c', f'x {n}'))
    for n in range(9)
]


def judged(scorer, path, episodes=EPISODES):
    """The judged episodes, and how many scores were there and were made."""
    reuse = Reuse(ScoreCache(path))
    engine = LocalEngine(LabelJob(lambda device: scorer))
    scored = score_batches(group_episodes(episodes, chunk=4), engine, reuse)
    return list(decide_batches(scored, Policy())), (reuse.hits, reuse.misses)


class Failing(WordScorer):
    """Fails in its third call."""

    def score_texts(self, examples):
        if len(self.calls) == 2:
            raise KeyboardInterrupt
        return super().score_texts(examples)


def test_what_a_stopped_run_scored_is_not_scored_again(tmp_path):
    whole, counts = judged(WordScorer(), tmp_path / 'whole.sqlite')
    assert counts == (0, 18)
    path = tmp_path / 'scores.sqlite'
    with pytest.raises(KeyboardInterrupt):
        judged(Failing(), path)
    assert judged(WordScorer(), path) == (whole, (8, 10))
    third = WordScorer()
    assert judged(third, path) == (whole, (18, 0))
    assert not any(third.calls)


def test_other_data_and_another_scorer_are_scored_anew(tmp_path):
    path = tmp_path / 'scores.sqlite'
    judged(WordScorer(), path)
    other = [*EPISODES[:4], episode(('new', 'a b c', 'a')), *EPISODES[5:]]
    again, (_, misses) = judged(WordScorer(), path, other)
    assert again == judged(WordScorer(), tmp_path / 'b.sqlite', other)[0]
    assert misses == 1
    _, (hits, _) = judged(WordScorer(threshold=0.9), path)
    assert hits == 0


def test_what_actors_score_is_kept(tmp_path, monkeypatch):
    from parlai_q2.scripts import filter as script

    def local(opt, job):
        return LocalEngine(job)

    # What Ray's engine does is tested elsewhere; here, what the command does with it.
    monkeypatch.setattr(script, 'engine_from_opt', local)
    monkeypatch.setattr(WordScorer, 'has_models', True)
    words = ['filter', '-t', TASK, '--choose', SCORER, '--engine', 'ray']
    words += ['--outfile', str(tmp_path / 'kept.jsonl')]
    words += ['--cache-file', str(tmp_path / 'scores.sqlite')]
    WordScorer.made.clear()
    summary = run(words)
    assert (summary['kept'], summary['cache']) == (30, {'hits': 0, 'misses': 36})
    assert sum(len(scorer.scored) for scorer in WordScorer.made) == 36


@pytest.fixture
def scored(tmp_path):
    """A folder of three scored files: grounded, not grounded, and bad."""
    k = [{'title': 'Bee', 'text': 'Bees have five eyes.'}, 'Ants have two.']
    for name, responses in (('a', ['Bees have five eyes.']), ('b', ['No.', 3, ''])):
        rows = [
            {'id': n, 'knowledge': k, 'history': ['Well?', 'Hm.'], 'response': response}
            for n, response in enumerate(responses)
        ]
        write_lines(tmp_path / f'{name}.jsonl', *rows)
    return tmp_path


def score(scored, out, *options):
    files = ['--infile', str(scored / '*.jsonl'), '--outfile', str(scored / out)]
    run_command('score', *files, '--measure', 'precision', '--allow-errors', *options)
    return scored / out


def filter_file(infile, folder, *options):
    outfile = folder / 'kept.jsonl'
    return run(['filter', '--infile', str(infile), '--outfile', str(outfile), *options])


def test_scored_files_are_filtered_without_a_scorer(scored):
    summary = filter_file(score(scored, 'out'), scored / 'f')
    assert (summary['turns'], summary['kept']) == (3, 1)
    dropped = summary['reasons']['dropped']
    assert dropped == {'not above the threshold': 1, 'no label': 1}
    (conversation,) = read_lines(scored / 'f' / 'kept.jsonl')
    assert said([conversation]) == [[('Well?\nHm.', 'Bees have five eyes.')]]
    question_act, answered = conversation['dialog'][0]
    act = (question_act['turn_id'], question_act['knowledge'][0]['title'])
    assert act == (0, 'Bee')
    assert answered['q2_evidence']['parts']['precision'] == 1.0
    few = filter_file(scored / 'out', scored / 'few', '-n', '2')
    assert (few['turns'], few['kept']) == (2, 1)


@pytest.mark.parametrize(
    'option',
    [
        ('-t', TASK),
        ('--engine', 'ray'),
        ('--knowledge-file', 'k.txt'),
        ('--choose', 'precision'),
        ('--choose-preset', 'base'),
        ('--preset', 'base'),
    ],
)
def test_what_a_scored_file_does_not_need_is_refused(tmp_path, option):
    with pytest.raises(ConfigError, match='has no effect with --infile'):
        filter_file(tmp_path / 'scores.jsonl', tmp_path, *option)


def test_the_threshold_of_a_scored_file_may_be_another(scored):
    out = score(scored, 'out', '--measure-threshold', '0.0')
    assert filter_file(out, scored / 'f')['policy']['threshold'] == 0.0
    summary = filter_file(out, scored / 'f', '--choose-threshold', '1.0')
    assert (summary['policy']['threshold'], summary['kept']) == (1.0, 0)


@pytest.mark.skipif(find_spec('pyarrow') is None, reason='pyarrow is not installed')
def test_parquet_gives_the_same(scored):
    first = filter_file(score(scored, 'out'), scored / 'f')
    out = score(scored, 'parquet', '--out-format', 'parquet')
    endings = sorted(path.suffix for path in out.iterdir())
    assert endings == ['.json'] * 3 + ['.parquet'] * 2
    second = filter_file(out, scored / 'g')
    assert {**second, 'kept_file': 0, 'dropped_file': 0} == {
        **first,
        'kept_file': 0,
        'dropped_file': 0,
    }


def test_a_scored_file_is_judged_by_the_knowledge_it_was_scored_with(tmp_path):
    other = {'checked_sentence': 'The cat is red.', 'response': 'The cat is red.'}
    rows = [{**other, 'knowledge': k} for k in ('', 'A dog.', 'The cat is red.')]
    write_lines(tmp_path / 'in.jsonl', *rows)
    summary = filter_file(score(tmp_path, 'out'), tmp_path / 'f')
    dropped = summary['reasons']['dropped']
    assert dropped == {'not above the threshold': 1}
    assert summary['reasons']['kept']['no knowledge'] == 1


def test_reranked_pools_are_filtered_by_what_was_chosen(tmp_path):
    candidates = ['Seven.', 'Bees have five eyes.']
    pool = {'knowledge': 'Bees have five eyes.', 'candidates': candidates}
    write_lines(tmp_path / 'in.jsonl', pool, {**pool, 'candidates': ['Seven.']})
    files = ['--infile', str(tmp_path / 'in.jsonl')]
    files += ['--outfile', str(tmp_path / 'out.jsonl')]
    run_command('rerank', *files, '--choose', 'precision', '--explain', 'none')
    summary = filter_file(tmp_path / 'out.jsonl', tmp_path)
    assert (summary['turns'], summary['kept']) == (2, 1)
    (conversation,) = read_lines(tmp_path / 'kept.jsonl')
    assert said([conversation]) == [[('', 'Bees have five eyes.')]]


def test_a_withheld_reply_is_no_label(tmp_path):
    pool = {'knowledge': 'Bees have five eyes.', 'candidates': ['Bees have seven.']}
    write_lines(tmp_path / 'in.jsonl', pool)
    files = ['--infile', str(tmp_path / 'in.jsonl')]
    files += ['--outfile', str(tmp_path / 'out.jsonl')]
    options = ['--choose', 'precision', '--explain', 'none', '--abstain-below', '0.9']
    run_command('rerank', *files, *options)
    summary = filter_file(tmp_path / 'out.jsonl', tmp_path)
    assert summary['reasons']['dropped'] == {'the model abstained': 1}


def test_an_input_is_not_overwritten(scored):
    infile = score(scored, 'out') / 'a.jsonl'
    before = infile.read_bytes()
    with pytest.raises(InputError, match='is also an input'):
        run(['filter', '--infile', str(infile), '--outfile', str(infile)])
    assert infile.read_bytes() == before


def test_a_chat_is_signed_though_it_begins_with_small_talk(tmp_path):
    row = {'text': 'Hi.', 'chosen': True, 'first': True}
    row |= {'score': None, 'label': None, 'claims': []}
    signature = 'precision|threshold:0.4|version:1.0'
    scored_row = {**row, 'text': 'Five.', 'score': 1.0, 'label': 'consistent'}
    replies = [
        {'text': 'Hi.', 'rerank': [row]},
        {'text': 'Five.', 'rerank': [scored_row], 'rerank_signature': signature},
    ]
    dialog = [[{'text': 'Well?', 'knowledge': 'k'}, reply] for reply in replies]
    dialog[0][0].pop('knowledge')
    write_lines(tmp_path / 'log.jsonl', {'dialog': dialog})
    summary = filter_file(tmp_path / 'log.jsonl', tmp_path)
    assert (summary['turns'], summary['signature']) == (2, signature)
    assert summary['policy']['threshold'] == 0.4


def test_a_file_without_signature_prints_none(tmp_path, caplog):
    record = {'knowledge': 'k', 'response': 'k', 'score': 0.9, 'label': 'consistent'}
    write_lines(tmp_path / 'in.jsonl', record)
    filter_file(tmp_path / 'in.jsonl', tmp_path)
    assert 'signature' not in caplog.text.lower()
    assert 'signature' not in (tmp_path / 'kept.summary.txt').read_text()


def test_a_file_without_scores_says_what_to_do(tmp_path):
    write_lines(tmp_path / 'in.jsonl', {'knowledge': 'k', 'response': 'r'})
    with pytest.raises(InputError, match='parlai_q2 score'):
        filter_file(tmp_path / 'in.jsonl', tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ['in.jsonl']
    assert json.loads((tmp_path / 'in.jsonl').read_text())['response'] == 'r'
