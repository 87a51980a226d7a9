"""The page of tables and figures."""

import re

from parlai_q2.figures.style import new_figure, save
from parlai_q2.report.measured import PageSection, caption, write_measured
from parlai_q2.tables import Column, Table

HOSTILE = '</script><img src=x onerror=alert(1)>'


def test_the_page_has_tables_figures_and_signatures_and_runs_nothing(tmp_path):
    with new_figure(1) as figure:
        figure.subplots().plot([0, 1], [0, 1])
        drawn = save(figure, tmp_path, 'set_by_corpus')
    columns = (Column('scorer', 'scorer', repeated=True), Column('auc', 'AUC'))
    row = {'scorer': HOSTILE, 'auc': 0.5, 'source': 'paper'}
    table = Table('t', 'A table', columns, (row,), ('Mind.',))
    section = PageSection('My & set', [table], drawn, [('mine', 'sig|a:<b>')], 'set_')
    page = write_measured([section], tmp_path / 'page.html', HOSTILE, 'Read.')
    text = page.read_text('utf-8')
    assert text.count('data:image/svg+xml;base64,') == 1, 'an SVG, and not its PNG'
    assert 'alt="Scores by corpus"' in text
    assert HOSTILE not in text
    assert 'sig|a:&lt;b&gt;' in text
    assert 'My &amp; set' in text
    assert re.findall(r'<script[^>]*>(.*?)</script>', text, re.S) == ['']
    assert "default-src 'none'" in text
    again = write_measured([section], tmp_path / 'two.html', HOSTILE, 'Read.')
    assert again.read_bytes() == page.read_bytes()


def test_a_figure_is_named_by_what_it_shows(tmp_path):
    names = {
        'q2_wow_roc': 'ROC: responses found against false alarms',
        'q2_wow_by_density': 'Scores by density',
        'q2_wow_generators_grounded_fast': 'F1 by generator, grounded fast',
        'q2_wow_own_thing': 'own thing',
    }
    captions = {n: caption(tmp_path / f'{n}.svg', 'q2_wow_') for n in names}
    assert captions == names
