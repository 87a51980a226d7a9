import re

import pytest

from parlai_q2.errors import InputError
from parlai_q2.report.comparison import (
    TwoRunOverview,
    compare_entries,
    different_settings,
    pair_up,
    write_comparison,
)
from tests.files import page_data
from tests.report.runs import AFTER, entries, rescored, two_runs
from tests.report.samples import HOSTILE, SIGNATURE, reranked, scored, simple


def ids(pairing):
    return [(old['id'], new['id']) for old, new in pairing.pairs]


def page_of(tmp_path, before, after, **kwargs):
    path = write_comparison(
        entries(*before), entries(*after), tmp_path / 'page.html', **kwargs
    )
    return path.read_text('utf-8')


# --- pairs


def run(*numbers, **fields):
    return [simple(number, **fields) for number in numbers]


SAME = {'response': 'Yes.', 'knowledge': 'K.'}


@pytest.mark.parametrize(
    'before, after, expected, counts',
    [
        # In the order of the second run.
        (run(1, 2, 3), run(3, 1, 4), [('r3', 'r3'), ('r1', 'r1')], (1, 1, 0)),
        # Without an id an entry has its place for one, here another in each run.
        (run(1, 2, id=None), run(2, 1, id=None), [('2', '1'), ('1', '2')], (0, 0, 0)),
        # An id decides between equal texts.
        (
            run(1, 2, **SAME),
            run(2, 1, 3, **SAME),
            [('r2', 'r2'), ('r1', 'r1')],
            (0, 1, 0),
        ),
        # The same record with other knowledge is counted, and not compared.
        (
            run(1, 2, 3),
            run(1, knowledge='L.') + run(2, 3),
            [('r2', 'r2'), ('r3', 'r3')],
            (1, 1, 1),
        ),
    ],
)
def test_two_scorings_are_paired_by_their_texts(before, after, expected, counts):
    pairing = pair_up(entries(*before), entries(*after))
    assert ids(pairing) == expected
    assert not pairing.systems
    assert (pairing.only_before, pairing.only_after, pairing.other_text) == counts


def two_systems(count, same):
    """Responses to as many turns, of which the second says some as the first does."""
    before = [simple(n, 0.8) for n in range(count)]
    other = [simple(n, 0.4, response=f'No {n}.') for n in range(same, count)]
    return before, [simple(n, 0.8) for n in range(same)] + other


def test_two_systems_are_paired_by_their_turns_whatever_both_happen_to_say():
    before, after = two_systems(40, 19)
    pairing = pair_up(entries(*before), entries(*reversed(after)))
    assert pairing.systems
    assert len(pairing.pairs) == 40
    assert all(old == new for old, new in ids(pairing))
    # An id that stands for another turn does not pair.
    moved = [{**entry, 'history': ['other']} for entry in after]
    assert not pair_up(entries(*before), entries(*moved)).systems


def test_without_ids_two_systems_are_paired_by_knowledge_and_history_in_any_order():
    turns = [('K.', ['a']), ('K.', ['b']), ('L.', ['a'])]
    before, after = (
        [
            simple(0, id=None, knowledge=k, history=h, response=response)
            for k, h in order
        ]
        for response, order in (('One.', turns), ('Two.', [*turns[::-1], ('M.', [])]))
    )
    pairing = pair_up(entries(*before), entries(*after))
    assert pairing.systems
    assert ids(pairing) == [('3', '1'), ('2', '2'), ('1', '3')]
    assert (pairing.only_before, pairing.only_after) == (0, 1)
    # Ids of their own say that these are other turns.
    named = [{**entry, 'id': f'r{n}'} for n, entry in enumerate(before)]
    other = [{**entry, 'id': f's{n}'} for n, entry in enumerate(after)]
    assert not pair_up(entries(*named), entries(*other)).pairs


def test_two_systems_are_compared_as_a_whole_and_in_words(tmp_path):
    page = page_of(tmp_path, *two_systems(40, 19), names=('one', 'two'))
    assert 'same signature' not in page
    assert 'one \u2192 two: 40 turns in both, 21 with a different score' in page
    verdict = 'one is better grounded than two: one is ahead in 21 of 40 turns'
    assert f'{verdict}, two in 0, and 19 are ties.' in page
    assert '<b>0.800 \u2192 0.590</b>' in page
    changes = page_data(page)['changes']
    assert sum(change['other'] for change in changes) == 21


def test_what_cannot_be_told_is_not_claimed(tmp_path):
    before = [simple(n, 0.8 if n % 2 else 0.4) for n in range(20)]
    after = [simple(n, 0.4 if n % 2 else 0.8, response='R.') for n in range(20)]
    page = page_of(tmp_path, before, after, names=('one', 'two'))
    assert 'It is not clear whether one or two is better grounded' in page
    assert 'one is ahead in 10 of 20 turns, two in 10, and 0 are ties.' in page


@pytest.mark.parametrize(
    'passages, verdict',
    [
        (1, 'one is better'),
        (5, 'turns that differ on 6 passages'),
        (8, 'one is better'),
    ],
)
def test_the_turns_of_a_passage_count_together(tmp_path, passages, verdict):
    sides = [
        [{**record, 'knowledge': f'K{n % passages}.'} for n, record in enumerate(side)]
        for side in two_systems(40, 0)
    ]
    assert verdict in page_of(tmp_path, *sides, names=('one', 'two'))


def test_the_interval_draws_passages():
    turns = [(f'K{n}.', 0.9 if n < 4 else 0.5) for n in range(8) for _ in range(20)]
    before = [simple(n, 0.6, knowledge=k) for n, (k, _) in enumerate(turns)]
    after = [simple(n, s, knowledge=k) for n, (k, s) in enumerate(turns)]
    interval = overview_of(before, after).interval
    assert interval.low < 0 < interval.mean < interval.high


def test_scores_made_in_two_ways_are_no_verdict(tmp_path):
    before, after = two_systems(40, 19)
    after = [{**record, 'signature': 'precision|version:1'} for record in after]
    page = page_of(tmp_path, before, after, names=('one', 'two'))
    assert 'is better grounded' not in page
    assert 'No verdict: the two systems were not scored with the same' in page


# --- one pair


def test_a_response_has_changed_if_its_score_or_its_label_has():
    change = compare_entries(*entries(scored(), rescored()))
    assert change['difference'] == pytest.approx(1 / 3, abs=1e-4)
    assert change['flip']
    assert change['changed']
    assert not compare_entries(*entries(scored(), scored()))['changed']


# --- all pairs


def overview_of(before, after):
    pairs = pair_up(entries(*before), entries(*after)).pairs
    return TwoRunOverview([compare_entries(*pair) for pair in pairs])


def test_figures_are_over_the_pairs():
    comparison = overview_of(*two_runs(20))
    # Of each ten: 1/3 to 2/3, 0.9 to 0.8, 0.9 to 1, and seven stay at 0.9.
    assert comparison.before == pytest.approx((1 / 3 + 9 * 0.9) / 10, abs=1e-4)
    assert comparison.after == pytest.approx((2 / 3 + 9 * 0.9) / 10, abs=1e-4)
    assert (comparison.flips, comparison.higher, comparison.lower) == (2, 4, 2)
    assert comparison.labels == {
        ('inconsistent', 'consistent'): 2,
        ('consistent', 'consistent'): 18,
    }
    assert comparison.classes['inconsistent'] == pytest.approx(
        (2, 1 / 3, 2 / 3), abs=1e-4
    )
    interval = comparison.interval
    assert interval.mean == pytest.approx(1 / 30, abs=1e-4)
    assert interval.low < interval.mean < interval.high


def test_turns_without_a_reply_are_left_out_and_counted():
    before = [reranked(id=name) for name in 'abc']
    after = [reranked(id='a'), reranked(id='b', response="I'm not sure."), simple(3)]
    comparison = overview_of(before, after)
    assert (comparison.withheld, comparison.count) == ((0, 1), 1)


def test_what_stands_for_replies_gives_no_verdict(tmp_path):
    before = [reranked(id=f'r{n}', response="I'm not sure.") for n in range(8)]
    after = [{**entry, 'response': reranked()['response']} for entry in before]
    page = page_of(tmp_path, before, after)
    assert '8 turns in both' in page
    assert 'No verdict: no turn has a reply in both.' in page


def test_only_the_settings_that_differ_are_told():
    assert different_settings('q2|a:1|b:x:y', 'q2_f1|a:1|b:x|c:3') == [
        ('scorer', 'q2', 'q2_f1'),
        ('b', 'x:y', 'x'),
        ('c', '', '3'),
    ]


# --- the page


def test_the_page_says_the_figures(tmp_path):
    before, after = two_runs(20)
    page = page_of(tmp_path, [*before, simple(99)], after, names=('a.jsonl', 'b <i>'))
    assert 'a.jsonl \u2192 b &lt;i&gt;: 20 responses in both' in page
    assert '6 with a different score, 2 with a different label' in page
    assert '<dt>Mean score</dt><dd><b>0.843 \u2192 0.877</b>' in page
    assert re.search(
        r'<b>\+0\.033</b> <span>95 % interval [\d.+\u2212]+ to \+0\.\d{3}, paired', page
    )
    assert '1 only before, 0 only after' in page
    assert '<td class="flip">' in page
    assert '<th scope="row">preset</th><td><code>mini</code></td>' in page
    assert '<td><code>paper</code></td>' in page
    assert page_data(page)['signatures'] == [SIGNATURE, AFTER]


def test_other_scores_of_the_same_signature_are_warned_of(tmp_path):
    warning = 'same signature, yet 1 score differs'
    changed = rescored(signature=SIGNATURE)
    assert warning in page_of(tmp_path, [scored()], [changed])
    assert 'same signature' not in page_of(tmp_path, [scored()], [rescored()])
    assert 'same signature' not in page_of(tmp_path, [scored()], [scored()])


def test_runs_that_have_nothing_in_common_are_an_error(tmp_path):
    with pytest.raises(InputError, match='1 ids are in both, with other knowledge'):
        page_of(tmp_path, [simple(1)], [simple(1, knowledge='Other.')])
    assert not list(tmp_path.iterdir())


def test_what_responses_say_is_never_part_of_the_page(tmp_path):
    plain = page_of(tmp_path, [scored()], [rescored()])
    hostile = {'id': HOSTILE, 'response': HOSTILE, 'knowledge': HOSTILE}
    hostile_fields = {'label': HOSTILE, 'q2_label': HOSTILE, 'history': [HOSTILE]}
    page = page_of(
        tmp_path,
        [scored(**hostile, **hostile_fields, signature=HOSTILE)],
        [rescored(**hostile, **hostile_fields, signature=HOSTILE + '|a:b')],
        names=(HOSTILE, HOSTILE),
    )
    for mark in ('<script', '</script', '<!--'):
        assert page.count(mark) == plain.count(mark), mark
    assert not set('\x00\x1b\u2028\u202e') & set(page)
