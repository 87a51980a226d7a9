import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from parlai_q2.errors import InputError
from parlai_q2.figures.style import new_figure, save
from parlai_q2.report import write_report
from parlai_q2.report.page import PageSection, caption, write_measured
from parlai_q2.tables import Column, Table
from tests.files import page_data
from tests.report.samples import HOSTILE, SIGNATURE, reranked, scored, simple


def page_of(tmp_path, records, **kwargs):
    return write_report(records, tmp_path / 'page.html', **kwargs).read_text('utf-8')


class Elements(HTMLParser):
    """Collects elements as a browser would see them."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_the_same_records_give_the_same_bytes(tmp_path):
    records = [scored(), reranked(), simple(1)]
    first = write_report(records, tmp_path / 'a.html').read_bytes()
    assert write_report(iter(records), tmp_path / 'b.html').read_bytes() == first


def test_nothing_is_loaded_from_elsewhere(tmp_path):
    page = page_of(tmp_path, [scored()])
    for tag, attributes in Elements(page).found:
        assert tag not in ('iframe', 'object', 'embed', 'base')
        for name in ('src', 'href', 'srcset', 'action'):
            assert attributes.get(name, 'data:,') == 'data:,'
        assert not any(name.startswith('on') or name == 'style' for name in attributes)
    assert 'url(' not in page
    assert '@import' not in page


def test_the_policy_allows_just_this_script_and_this_style(tmp_path):
    page = page_of(tmp_path, [scored()])
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none';")
    for tag in ('script', 'style'):
        inside = re.findall(rf'<{tag}>(.*?)</{tag}>', page, re.S)
        assert len(inside) == 1
        digest = base64.b64encode(hashlib.sha256(inside[0].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_hostile_text_stays_data(tmp_path):
    everywhere = {
        'id': HOSTILE,
        'knowledge': HOSTILE,
        'response': HOSTILE,
        'history': [HOSTILE],
        'label': HOSTILE,
        'q2_label': HOSTILE,
        'signature': HOSTILE,
        'rerank': [{'text': HOSTILE, 'first': True, 'chosen': True}],
    }
    page = page_of(tmp_path, [simple(1, **everywhere)], title=HOSTILE)
    plain = page_of(tmp_path, [simple(1)])
    scripts = [a for tag, a in Elements(page).found if tag == 'script']
    assert scripts == [a for tag, a in Elements(plain).found if tag == 'script']
    assert page.count('</script') == plain.count('</script')
    assert page.count('<!--') == plain.count('<!--') == 0
    assert not set('\x00\x1b\u2028\u202e') & set(page)
    entry = page_data(page)['entries'][0]
    assert entry['response'][0][0].startswith('<script>document.title="taken"</script>')
    assert '{{data}} ${x}' in entry['response'][0][0]


def test_the_overview_says_the_figures(tmp_path):
    page = page_of(
        tmp_path,
        [scored(q2_label='inconsistent'), reranked(q2_label='consistent')],
        title='A & B',
    )
    assert '<title>A &amp; B</title>' in page
    assert '2 responses, 1 of them chosen from candidates' in page
    assert '<dt>Mean score</dt><dd><b>0.667</b>' in page
    assert '<b>3</b> <span>for 50.0 % of the responses</span>' in page
    assert '<dt>Reranked</dt><dd><b>0.333 \u2192 1.000</b>' in page
    assert '<th scope="row">inconsistent</th><td>1</td><td>0.333</td>' in page
    assert f'<code>{SIGNATURE}</code>' in page
    assert 'different signatures' not in page


def test_no_records_are_an_error_that_says_what_to_run(tmp_path):
    with pytest.raises(InputError, match='parlai_q2 score'):
        write_report([], tmp_path / 'page.html')
    assert not list(tmp_path.iterdir())


def test_a_bad_record_is_named_and_the_old_page_stays(tmp_path):
    path = write_report([simple(1)], tmp_path / 'page.html')
    before = path.read_bytes()
    with pytest.raises(InputError, match="record 2: 'score' must be"):
        write_report([simple(1), simple(2, score=7)], path)
    assert path.read_bytes() == before


MARKUP = '</script><img src=x onerror=alert(1)>'


def test_the_page_has_tables_figures_and_signatures_and_runs_nothing(tmp_path):
    with new_figure(1) as figure:
        figure.subplots().plot([0, 1], [0, 1])
        drawn = save(figure, tmp_path, 'set_by_corpus')
    columns = (Column('scorer', 'scorer', repeated=True), Column('auc', 'AUC'))
    row = {'scorer': MARKUP, 'auc': 0.5, 'source': 'paper'}
    table = Table('t', 'A table', columns, (row,), ('Mind.',))
    section = PageSection('My & set', [table], drawn, [('mine', 'sig|a:<b>')], 'set_')
    page = write_measured([section], tmp_path / 'page.html', MARKUP, 'Read.')
    text = page.read_text('utf-8')
    assert text.count('data:image/svg+xml;base64,') == 1, 'an SVG, and not its PNG'
    assert 'alt="Scores by corpus"' in text
    assert MARKUP not in text
    assert 'sig|a:&lt;b&gt;' in text
    assert 'My &amp; set' in text
    assert re.findall(r'<script[^>]*>(.*?)</script>', text, re.S) == ['']
    assert "default-src 'none'" in text
    again = write_measured([section], tmp_path / 'two.html', MARKUP, 'Read.')
    assert again.read_bytes() == page.read_bytes()


def test_a_figure_is_named_by_what_it_shows(tmp_path):
    names = {
        'q2_wow_roc': 'ROC: responses found against false alarms',
        'q2_wow_by_density': 'Scores by density',
        'q2_wow_own_thing': 'own thing',
    }
    captions = {n: caption(tmp_path / f'{n}.svg', 'q2_wow_') for n in names}
    assert captions == names
