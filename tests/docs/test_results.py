"""The figures on pages are those of the runs, whose tables are complete."""

from tests.docs.code_in_docs import ROOT
from tests.files import load_script

results = load_script(ROOT / '.ci' / 'results.py')


def test_the_figures_on_pages_are_those_of_the_runs():
    # What no run has yet is told by "check", for the release, and is no error here.
    assert [p for p in results.check(ROOT) if 'no run has' not in p] == []


def test_result_tables_begin_with_command_and_signatures():
    figures = results.Results(ROOT)
    assert figures.runs
    for name, run in figures.runs.items():
        text = (ROOT / results.RESULTS / f'{name}.txt').read_text('utf-8')
        assert text.startswith(run['command'] + '\n')
        assert '--datapath data ' in text
        head = text.partition('Mean scores')[0]
        for scorer, signature in run['signatures'].items():
            assert signature in head
            ranked = figures.shown(f'{name}/ranking/{scorer}/roc_auc', 'i')
            assert ranked is None or ranked in text
