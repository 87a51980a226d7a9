"""Pairs of replies to learn from, of ranked files and of logs."""

import pytest

from parlai_q2.cli.commands import run_command
from parlai_q2.errors import ConfigError, InputError
from parlai_q2.report.scored_file import read_scored_file
from parlai_q2.rerank import Reranker
from parlai_q2.runs.preferences import choose_pair
from tests.files import read_lines, write_lines
from tests.rerank.toys import ToyScorer

KNOWLEDGE = 'Bees have five eyes.'


def rows(*texts, knowledge=KNOWLEDGE):
    return Reranker(ToyScorer()).rank(knowledge, texts).rows()


def test_the_best_and_the_worst_make_a_pair():
    best, worst = choose_pair(rows('Three legs.', 'Bees have eyes.', 'Bees have legs.'))
    assert (best['text'], worst['text']) == ('Bees have eyes.', 'Three legs.')
    ranked = rows('Bees have eyes.', 'Bees have legs.')
    assert choose_pair(ranked, 0.3) is not None
    assert choose_pair(ranked, 0.4) is None


@pytest.mark.parametrize(
    'texts',
    [
        ['Bees have eyes.'],
        ['Three legs.', 'Four wings here.'],
        # It cannot be verified, and stays first.
        ['hello', 'hello there'],
    ],
)
def test_no_pair_without_two_comparable_candidates(texts):
    assert choose_pair(rows(*texts)) is None


def test_a_copy_is_no_example_to_follow():
    knowledge = 'Bees have five eyes and they see in colour.'
    ranked = rows(knowledge, 'Three legs.', knowledge=knowledge)
    assert ranked[0]['guards'] == ['copy']
    assert ranked[0]['label'] == 'consistent'
    assert choose_pair(ranked) is None


def test_a_ranked_file_gives_prompts_as_the_generator_reads_them(tmp_path):
    record = {'knowledge': KNOWLEDGE, 'history': ['Hi.', 'Eyes?']}
    pools = [{**record, 'candidates': ['Three legs.', 'Bees have eyes.']}]
    write_lines(tmp_path / 'in.jsonl', *pools, {'candidates': []})
    ranked, out = str(tmp_path / 'ranked.jsonl'), tmp_path / 'pairs.jsonl'
    infile = str(tmp_path / 'in.jsonl')
    with pytest.raises(InputError, match='1 of the 2 pools'):
        run_command('rerank', infile=infile, outfile=ranked, choose='precision')
    counts = run_command('pairs', infile=ranked, outfile=str(out))
    assert counts == {'turns': 1, 'pairs': 1, 'bad': 1}
    [pair] = read_lines(out)
    assert pair.pop('score_chosen') - pair.pop('score_rejected') >= 0.3
    assert pair == {
        'prompt': f'respond: [0] Hi. [1] Eyes? knowledge: {KNOWLEDGE}',
        'chosen': 'Bees have eyes.',
        'rejected': 'Three legs.',
    }
    template = r'{history}\n{knowledge}'
    run_command('pairs', infile=ranked, outfile=str(out), prompt_template=template)
    assert read_lines(out)[0]['prompt'] == f'Hi.\nEyes?\n{KNOWLEDGE}'


def test_passages_are_lines_of_the_prompt_and_are_shown_with_their_titles(tmp_path):
    passages = ['Wasps build nests.', {'title': 'Bee', 'text': KNOWLEDGE}]
    pool = {'knowledge': passages, 'candidates': ['Three legs.', 'Bees have eyes.']}
    write_lines(tmp_path / 'in.jsonl', pool)
    files = [str(tmp_path / name) for name in ('in.jsonl', 'ranked.jsonl', 'out.jsonl')]
    run_command('rerank', infile=files[0], outfile=files[1], choose='consistency')
    (ranked,) = read_lines(tmp_path / 'ranked.jsonl')
    assert ranked['knowledge'] == passages
    (evidence,) = ranked['rerank'][0]['claims'][0]['evidence']
    assert (evidence['passage'], evidence['text']) == (1, KNOWLEDGE)
    (entry,) = read_scored_file(tmp_path / 'ranked.jsonl')
    assert entry['rerank'][0]['claims'][0]['evidence'] == [['Bee', KNOWLEDGE]]
    run_command('pairs', infile=files[1], outfile=files[2])
    (pair,) = read_lines(tmp_path / 'out.jsonl')
    assert pair['prompt'].endswith(f'knowledge: Wasps build nests.\n{KNOWLEDGE}')


def test_so_does_a_log_of_the_agent(tmp_path):
    reply = {'text': 'Bees have eyes.', 'rerank_knowledge': KNOWLEDGE}
    reply['rerank'] = rows('Three legs.', 'Bees have eyes.')
    command = {'text': 'Because.', 'rerank_command': 'why'}
    dialog = [
        [{'text': 'Hi.'}, {**reply, 'rerank': []}],
        [{'text': '/why'}, command],
        [{'text': 'Eyes?'}, reply],
    ]
    log = write_lines(tmp_path / 'log.jsonl', {'dialog': dialog})
    out = tmp_path / 'pairs.jsonl'
    counts = run_command('pairs', infile=str(log), outfile=str(out))
    assert counts == {'turns': 2, 'pairs': 1, 'bad': 0}
    [pair] = read_lines(out)
    # The shipped model reads two turns.
    assert pair['prompt'].startswith('respond: [0] Bees have eyes. [1] Eyes?')


def test_withheld_replies_are_never_preferred(tmp_path):
    pool = {'knowledge': KNOWLEDGE, 'candidates': ['Six.', 'Bees have four eyes.']}
    log = {'text': "I'm not sure.", 'rerank_knowledge': KNOWLEDGE}
    log['rerank'] = rows('Three legs.', 'Bees have eyes.')
    write_lines(tmp_path / 'in.jsonl', pool)
    write_lines(tmp_path / 'log.jsonl', {'dialog': [[{'text': 'Eyes?'}, log]]})
    files = [str(tmp_path / name) for name in ('in.jsonl', 'ranked.jsonl', 'log.jsonl')]
    options = {'choose': 'precision', 'explain': 'none', 'abstain_below': 0.99}
    run_command('rerank', infile=files[0], outfile=files[1], **options)
    for infile in files[1:]:
        counts = run_command('pairs', infile=infile, outfile=str(tmp_path / 'out'))
        assert counts == {'turns': 1, 'pairs': 0, 'bad': 0}


def test_a_file_that_is_not_ranked_is_an_error(tmp_path):
    log = write_lines(tmp_path / 'in.jsonl', {'knowledge': KNOWLEDGE, 'response': 'a'})
    with pytest.raises(InputError, match='Run: parlai_q2 rerank'):
        run_command('pairs', infile=str(log), outfile=str(tmp_path / 'out.jsonl'))
    assert not (tmp_path / 'out.jsonl').exists()


@pytest.mark.parametrize(
    'bad, says',
    [
        ({'knowledge': KNOWLEDGE}, 'has no ranked candidates'),
        ({'kind': 'error'}, 'has no ranked candidates'),
        ({'kind': 'error', 'error': 'no text.'}, 'no text'),
    ],
)
def test_a_bad_record_is_counted_and_named_with_its_line(tmp_path, caplog, bad, says):
    good = {'knowledge': KNOWLEDGE, 'rerank': rows('Three legs.', 'Bees have eyes.')}
    ranked = write_lines(tmp_path / 'in.jsonl', good, bad)
    out = str(tmp_path / 'out.jsonl')
    counts = run_command('pairs', infile=str(ranked), outfile=out)
    assert counts == {'turns': 1, 'pairs': 1, 'bad': 1}
    assert f'No pair: in.jsonl, line 2: {says}' in caplog.text


@pytest.mark.parametrize('margin', [0.0, 1.5, -1.0])
def test_a_margin_is_a_difference_of_scores(tmp_path, margin):
    log = write_lines(tmp_path / 'in.jsonl', {'knowledge': KNOWLEDGE})
    out = str(tmp_path / 'out')
    with pytest.raises(ConfigError, match='--margin'):
        run_command('pairs', infile=str(log), outfile=out, margin=margin)
