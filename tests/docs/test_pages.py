"""What the pages say beside their commands: links, options, presets, figures."""

import re
from pathlib import Path

import pytest

from parlai_q2.cli.commands import COMMANDS, build_parser
from parlai_q2.presets import load_preset
from tests.docs.code_in_docs import ROOT, pages, read_code
from tests.files import load_script


def is_there(page: Path, anchor: str) -> bool:
    """Whether there is a file, and a heading in it for the anchor, if one is given."""
    if not page.exists() or not anchor:
        return page.exists()
    headings = re.findall(r'^#+ (.+)$', page.read_text('utf-8'), re.MULTILINE)
    plain = [re.sub(r'[^\w -]', '', heading.lower()) for heading in headings]
    return anchor in [heading.replace(' ', '-') for heading in plain]


def test_every_link_leads_somewhere():
    links = [
        (page, *link)
        for page in [*pages(), ROOT / 'SECURITY.md', ROOT / 'CHANGELOG.md']
        for link in re.findall(
            r'\]\((?!http)([^)#]*)#?([^)]*)\)', page.read_text('utf-8')
        )
    ]
    assert len(links) > 200
    lost = [
        (page, name, anchor)
        for page, name, anchor in links
        if not is_there(page.parent / name if name else page, anchor)
    ]
    assert lost == []


def test_every_page_that_a_file_names_is_there():
    named = [
        (path, *name)
        for folder in ('parlai_q2', 'agents', 'tasks', 'zoo', 'benchmarks', '.ci')
        for path in (ROOT / folder).rglob('*')
        if path.suffix in ('.py', '.yaml', '.md')
        for name in re.findall(
            r'\b(docs/[\w/]+\.md)#?([\w-]*)', path.read_text('utf-8')
        )
    ]
    assert len(named) > 20
    assert [name for name in named if not is_there(ROOT / name[1], name[2])] == []


def test_the_tables_of_options_are_those_of_the_parsers():
    tables = load_script(ROOT / 'docs' / 'option_tables.py')
    remedy = 'run: python docs/option_tables.py'
    assert tables.OPTIONS_PAGE.read_text('utf-8') == tables.option_page(), remedy
    assert tables.COMMANDS_PAGE.read_text('utf-8') == tables.command_page(), remedy


@pytest.mark.parametrize('name', ['meta_eval', 'serve'])
def test_a_page_names_only_options_of_its_command(name):
    text = (ROOT / 'docs' / f'{name}.md').read_text('utf-8')
    named = set(re.findall(r'(?<![\w-])--[a-z-]+[a-z]', text)) - {'--outdir'}
    assert len(named) > 5
    assert named <= build_parser(COMMANDS[name])._option_string_actions.keys()


def test_every_preset_on_a_page_is_one(tmp_path):
    names = []
    for code in (code for page in pages() for code in read_code(page)):
        if code.name.endswith('.yaml') and '\nname: ' in code.text:
            (tmp_path / code.name).write_text(code.text)
            names.append(load_preset(str(tmp_path / code.name)).name)
    assert len(names) >= 2


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
