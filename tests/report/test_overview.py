"""The figures of a page, worked out by hand."""

import pytest

from parlai_q2.cli.commands import run_command
from parlai_q2.errors import ConfigError, InputError
from parlai_q2.intervals import share_interval
from parlai_q2.report.entries import person_label, read_entry
from parlai_q2.report.overview import Overview, break_down, measure_group
from tests.files import page_data, read_lines, write_lines
from tests.report.samples import SIGNATURE, reranked, scored, simple

YES, NOT, G, N = 'consistent', 'inconsistent', 'generic', 'not_verifiable'
# Score, the scorer's label and a person's.
JUDGED = [
    (0.9, YES, YES),
    (0.8, YES, 'SUPPORTS'),
    (0.7, YES, NOT),
    (0.2, NOT, NOT),
    (0.1, NOT, 0),
    (0.5, G, NOT),
    (0.5, N, YES),
    (0.6, YES, G),
    (0.3, NOT, ''),
]


def records(name='given_label', rows=JUDGED, **fields):
    return [
        simple(n, score=value, label=label, **{name: person}, **fields)
        for n, (value, label, person) in enumerate(rows)
    ]


def make_overview(*records):
    return Overview([read_entry(record) for record in records])


def test_what_has_no_verdict_is_left_out_and_counted():
    group = measure_group('all', [read_entry(record) for record in records()])
    assert (group.count, group.verifiable) == (9, 7)
    assert group.rate[0] == pytest.approx(4 / 7)
    agreement = group.agreement
    # The generic, the not verifiable and the one that a person calls generic.
    assert (agreement.count, agreement.left_out) == (5, 3)
    assert agreement.accuracy.mean == pytest.approx(4 / 5)
    assert agreement.auc.mean == 1.0


@pytest.mark.parametrize(
    'rows, agreement, rate',
    [
        ([(0.5, G, YES)], None, None),
        ([(0.9, YES, '')], None, 1.0),
        ([(0.9, YES, 'odd')], None, 1.0),
        # One class alone has no AUC.
        ([(0.9, YES, YES)], (1.0, None), 1.0),
    ],
)
def test_what_is_undefined_is_none(rows, agreement, rate):
    group = measure_group('all', [read_entry(r) for r in records(rows=rows)])
    assert (group.rate and group.rate.mean) == rate
    found = group.agreement
    assert (found and (found.accuracy.mean, found.auc)) == agreement


@pytest.mark.parametrize(
    'record, field, label',
    [
        ({'given_label': 'x', 'q2_label': 'y', 'label': 'z'}, '', 'x'),
        ({'q2_label': 'y', 'label': 'z'}, '', 'y'),
        ({'label': 'z'}, '', ''),
        ({'given_label': 'x', 'gold': 0}, 'gold', '0'),
        ({'given_label': 'x'}, 'gold', ''),
    ],
)
def test_a_persons_label(record, field, label):
    assert person_label(record, field) == label


def test_figures_are_broken_down_by_a_field():
    entries = [read_entry(record) for record in records()]
    for place, entry in enumerate(entries):
        entry['fields'] = {'system': '' if place == 8 else 'ab'[place % 2]}
    groups = break_down(entries, 'system')
    assert [(g.name, g.count, g.verifiable) for g in groups] == [
        ('(none)', 1, 1),
        ('a', 4, 3),
        ('b', 4, 3),
    ]


def test_what_was_withheld_or_states_nothing_is_no_gain_and_no_loss():
    decline = reranked()
    decline['rerank'][0] |= {'label': G, 'score': 0.04}
    withheld = reranked(response="I'm not sure about that.")
    overview = make_overview(reranked(), decline, withheld)
    assert overview.first_and_chosen == [0.3333, 1.0]
    assert (overview.judged, overview.changed, overview.reranked) == (1, 2, 2)
    assert overview.abstained == 1


def test_chosen_replies_that_answer_are_counted():
    records = [reranked(), reranked(), reranked()]
    for record, relevance in zip(records, (0.9, 0.5, 0.2), strict=True):
        for row in record['rerank']:
            row['relevance'] = relevance if row.get('chosen') else 0.0
    overview = make_overview(*records, reranked())
    assert (overview.answers, overview.relevances) == (2, [0.9, 0.5, 0.2])


def test_the_rates_interval_counts_responses_to_one_passage_as_alike(tmp_path):
    passages = ['a b c.', 'A b c', 'd e f.', 'd e f!', 'g h i.', 'G h i']
    replies = ['a b c.', 'c b a.', 'd e f.', 'e d f.', 'x y z.', 'x z y.']
    rows = [{'knowledge': k, 'response': r} for k, r in zip(passages, replies)]
    infile = write_lines(tmp_path / 'in.jsonl', *rows)
    files = ['--infile', str(infile), '--outfile', str(tmp_path / 'out.jsonl')]
    rate = run_command('score', *files, '--measure', 'precision')['rate']
    # By passage, the counts are 2/3, 2/3 and -4/3 above their share, whose squares add
    # up to 8/3; times 3/2, by 6 squared: 1/9. Alone: 2/9 by 5.
    expected = share_interval(4, 6, 6 * (2 / 45) / (1 / 9))
    assert rate == pytest.approx(expected._asdict())
    entries = [read_entry(record) for record in read_lines(tmp_path / 'out.jsonl')]
    assert measure_group('all', entries).rate == pytest.approx(expected)


def test_score_then_report_shows_agreement(tmp_path):
    rows = [
        {'knowledge': 'a b c.', 'response': text, 'gold': gold, 'system': system}
        for text, gold, system in [
            ('a b c.', 'yes', 's1'),
            ('x y z.', 'no', 's1'),
            ('a b d.', 'no', 's2'),
        ]
    ]
    infile = write_lines(tmp_path / 'in.jsonl', *rows)
    outfile = tmp_path / 'out.jsonl'
    words = ['--measure', 'precision', '--fields', 'label=gold']
    files = ['--infile', str(infile), '--outfile', str(outfile)]
    summary = run_command('score', *files, *words)
    assert summary['verifiable'] == 3
    assert summary['rate']['mean'] == pytest.approx(1 / 3)
    page = run_command('report', str(outfile), '--by', 'system')
    text = page.read_text()
    assert '<title>3 responses judged by precision</title>' in text
    assert 'By system' in text
    assert 's2' in text
    assert 'Accuracy' in text
    assert 'Consistent rate' in text
    assert all('fields' not in entry for entry in page_data(page)['entries'])


@pytest.mark.parametrize(
    'options, error, problem',
    [
        (['--by', 'nothing'], InputError, "field 'nothing'"),
        (['--fields', 'label=nothing'], InputError, "field 'nothing'"),
        (['--fields', 'knowledge=x'], ConfigError, 'only label=NAME'),
    ],
)
def test_a_field_that_is_not_there_is_an_error(tmp_path, options, error, problem):
    path = write_lines(tmp_path / 'scores.jsonl', *records())
    with pytest.raises(error, match=problem):
        run_command('report', str(path), *options)


def test_means_and_counts_are_over_all_responses():
    overview = make_overview(
        scored(q2_label='inconsistent'),
        simple(1, 1.0, q2_label='consistent'),
        simple(2, 0.6, q2_label='consistent', fallback=True),
        simple(3, 0.5, label='not_verifiable', q2_label='generic'),
    )
    assert overview.whole.score == pytest.approx(
        (1 / 3 + 1.0 + 0.6 + 0.5) / 4, abs=1e-4
    )
    assert overview.labels == {'inconsistent': 1, 'consistent': 2, 'not_verifiable': 1}
    assert overview.classes['consistent'] == [1.0, 0.6]
    assert overview.questions == 3
    assert overview.with_questions == 1
    assert overview.unanswered == 1
    assert overview.fallbacks == 1
    assert overview.signatures == [SIGNATURE]


def test_reranked_turns_compare_first_and_chosen():
    row = {'text': 'a', 'first': True, 'chosen': True}
    scored_row = {**row, 'score': 0.8, 'label': 'x'}
    unchanged = simple(1, response='a', rerank=[scored_row])
    unscored = simple(2, response='a', rerank=[row])
    overview = make_overview(reranked(), unchanged, unscored)
    assert (overview.reranked, overview.changed) == (3, 1)
    first, chosen = overview.first_and_chosen
    assert first == pytest.approx((1 / 3 + 0.8) / 2, abs=1e-4)
    assert chosen == pytest.approx(0.9)
