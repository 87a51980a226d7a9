import io
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from parlai_q2.claims import Comparison, Label, Score, not_verifiable
from parlai_q2.report import render_candidates, render_score, use_colour
from parlai_q2.rerank import Candidate, Ranking
from parlai_q2.turns import Span
from tests.evidence import asked
from tests.report.samples import answer, scored
from tests.report.test_entries import SENTENCE, TITLED

SCORE = Score.from_dict(scored())
RESPONSE, KNOWLEDGE = scored()['response'], scored()['knowledge']


def test_a_score_is_shown_with_its_evidence():
    assert render_score(SCORE, RESPONSE, KNOWLEDGE, colour=False) == '\n'.join(
        [
            'score     0.33 inconsistent',
            'response  \U0001f600 [+Madonna] was born in [!1985] in [?Canada].',
            'knowledge [+Madonna] (born [!August 16, 1958]) is an American singer.',
            'marks     [+supported] [?not in the knowledge] [!contradicted]',
            '',
            '[+] Who was born in 1985?',
            '    response  Madonna',
            '    knowledge Madonna',
            '    compared  exact, score 1.00',
            '',
            '[!] When was Madonna born?',
            '    response  1985',
            '    knowledge August 16, 1958',
            '    compared  contradiction, score 0.00',
            '',
            '[?] Where was Madonna born?',
            '    response  Canada',
            '    knowledge (no answer)',
            '    compared  no answer, score 0.00',
        ]
    )


def test_colour_repeats_what_the_signs_say():
    coloured = render_score(SCORE, RESPONSE, KNOWLEDGE, colour=True)
    plain = render_score(SCORE, RESPONSE, KNOWLEDGE, colour=False)
    assert re.sub(r'\x1b\[\d+m', '', coloured) == plain
    for code, mark in (('32', '[+Madonna]'), ('31', '[!1985]'), ('33', '[?Canada]')):
        assert f'\x1b[{code}m{mark}\x1b[0m' in coloured


@pytest.mark.parametrize('width', [1, 24, 40, 80, 200])
@pytest.mark.parametrize('text', ['word ' * 300, 'x' * 900, '東京' * 300, '\n\n'])
def test_no_line_is_too_wide(width, text):
    rendered = render_score(not_verifiable(), text, text, False, width)
    assert all(cell_len(line) <= max(width, 24) for line in rendered.split('\n'))


@pytest.mark.parametrize('hostile', ['\x1b]0;title\x07', '\x1b[2J', '\x00', '\u202e'])
def test_control_characters_never_reach_the_terminal(hostile):
    text = f'a{hostile}b'
    claim = asked(hostile, Span(text, 0, 9), Span(text, 0, 9), hostile)
    odd = replace(claim, question='', status=hostile)
    score = Score(0.1, hostile, (claim, odd), parts={hostile: 1.0})
    ranking = Ranking((Candidate(text, (hostile,), score=score),), hostile)
    rendered = render_score(score, text, text, False)
    rendered += render_candidates(ranking, colour=False)
    assert not set(hostile) & set('\x1b\x07\x00\u202e') & set(rendered)
    assert hostile[0].encode('unicode_escape').decode() in rendered


def test_long_knowledge_is_clipped_around_the_answers():
    knowledge = (
        'Filler sentence. ' * 2000 + 'She sang in 1983. ' + 'More filler. ' * 2000
    )
    claim = asked(
        'When?',
        answer(RESPONSE, '1985'),
        answer(knowledge, '1983'),
        Comparison.CONTRADICTION,
    )
    rendered = render_score(
        Score(0.0, Label.INCONSISTENT, (claim,)), RESPONSE, knowledge, 0
    )
    assert '[!1983]' in rendered
    assert len(rendered) < 1000


def candidate(score=None, label='', text='A reply.', claims=(), **fields):
    candidate_score = None if score is None else Score(score, label, claims)
    candidate_fields = {'strategies': ('beam',), 'generator_score': -1.5, **fields}
    return Candidate(text, score=candidate_score, **candidate_fields)


def test_candidates_are_shown_in_order_with_what_was_chosen_and_why():
    chosen = candidate(1.0, Label.CONSISTENT, place=1)
    first = candidate(
        1 / 3,
        Label.INCONSISTENT,
        RESPONSE,
        SCORE.claims[1:2],
        strategies=('beam', 'nucleus'),
    )
    ranking = Ranking((chosen, first), 'highest score')
    assert render_candidates(ranking, colour=False).split('\n') == [
        '>  1  1.00 consistent | generator -1.50 | beam | CHOSEN',
        '      A reply.',
        '      why: highest score',
        "   2  0.33 inconsistent | generator -1.50 | beam, nucleus | generator's first",
        '      \U0001f600 Madonna was born in [!1985] in Canada.',
        '      [!] When was Madonna born? response: 1985; knowledge: August 16, 1958;',
        '          contradiction 0.00',
    ]
    withheld = render_candidates(replace(ranking, abstain=True), colour=False)
    assert withheld.split('\n')[0].endswith('| WITHHELD')


@pytest.mark.parametrize(
    'fields, note',
    [
        (
            {'reason': 'best', 'score': 1.0, 'guards': ('copy',), 'guarded_score': 0.5},
            'why: best; counted as 0.50: copy',
        ),
        (
            {'reason': '', 'score': 0.2, 'guards': ('generic',), 'guarded_score': 0.2},
            None,
        ),
        ({'reason': ''}, None),
    ],
)
def test_a_candidate_says_why_it_stands_where_it_stands(fields, note):
    reason = fields.pop('reason')
    ranking = Ranking((candidate(**fields),), reason)
    lines = render_candidates(ranking, colour=False).split('\n')
    assert [line.strip() for line in lines[2:]] == ([note] if note else [])


def test_a_zero_has_no_sign():
    nearly = candidate(
        1.0, generator_score=-0.001, guards=('copy',), guarded_score=0.999
    )
    ranking = Ranking((nearly,), '')
    shown = render_candidates(ranking, colour=False) + repr(ranking)
    assert 'generator 0.00' in shown
    assert '-0.00' not in shown


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    'stream, environment, expected',
    [
        (Terminal(), {}, True),
        (Terminal(), {'TERM': 'dumb'}, False),
        (Terminal(), {'NO_COLOR': '1'}, False),
        (Terminal(), {'NO_COLOR': ''}, True),  # no-color.org: empty does not count
        (io.StringIO(), {'TERM': 'xterm'}, False),
    ],
)
def test_colour_is_for_terminals(monkeypatch, stream, environment, expected):
    for name in ('TERM', 'NO_COLOR'):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert use_colour(stream) is expected


def test_claims_show_what_they_rest_on():
    score = Score(0.9, Label.CONSISTENT, (SENTENCE,))
    rendered = render_score(score, 'They have five eyes.', TITLED, colour=False)
    assert rendered.split('\n') == [
        'score     0.90 consistent',
        'response  [+They have five eyes.]',
        'knowledge Bee: Bees have eyes. [+They have five.] Wasp: [+Wasps sting.]',
        'marks     [+supported] [?not in the knowledge] [!contradicted]',
        '',
        '[+] They have five eyes.',
        '    knowledge Bee: They have five.',
        '    knowledge Wasp: Wasps sting.',
        '    compared  supported, support 0.90',
    ]
