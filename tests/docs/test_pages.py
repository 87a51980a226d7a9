"""What the pages say beside their commands: links, options, presets."""

import re

from parlai_q2.cli.commands import COMMANDS, build_parser
from parlai_q2.presets import load_preset
from tests.docs.code_in_docs import ROOT, pages, read_code
from tests.files import load_script


def read_page(page: str) -> str:
    return (ROOT / 'docs' / page).read_text('utf-8')


def test_every_link_leads_somewhere():
    links = [
        (page, link)
        for page in pages()
        for link in re.findall(r'\]\((?!http)([^)#]+)\)', page.read_text('utf-8'))
    ]
    assert len(links) > 100
    assert [(p, link) for p, link in links if not (p.parent / link).exists()] == []


def test_the_tables_of_options_are_those_of_the_parsers():
    tables = load_script(ROOT / 'docs' / 'option_tables.py')
    remedy = 'run: python docs/option_tables.py'
    assert tables.OPTIONS_PAGE.read_text('utf-8') == tables.option_page(), remedy
    assert tables.COMMANDS_PAGE.read_text('utf-8') == tables.command_page(), remedy


def test_every_agent_has_its_options_in_the_reference():
    tables = load_script(ROOT / 'docs' / 'option_tables.py')
    agents = {p.parent.name for p in (ROOT / 'agents').glob('*/__init__.py')}
    assert agents == set(tables.TABLES) - {'scorers'}
    headings = re.findall(r'^## (\w+)$', tables.option_page(), re.MULTILINE)
    assert sorted(headings) == sorted(tables.TABLES)
    pages = [p.read_text('utf-8') for p in (ROOT / 'docs/agents').glob('*.md')]
    for agent in agents:
        link = f'(../reference/options.md#{agent})'
        assert any(link in page for page in pages), agent


def test_the_page_on_meta_evaluation_names_only_options_that_there_are():
    documented = set(re.findall(r'`(--[a-z-]+)', read_page('meta_eval.md')))
    assert documented
    assert documented <= set(build_parser(COMMANDS['meta_eval'])._option_string_actions)


def test_every_preset_on_a_page_is_one(tmp_path):
    names = []
    for code in (code for page in pages() for code in read_code(page)):
        if code.name.endswith('.yaml') and '\nname: ' in code.text:
            (tmp_path / code.name).write_text(code.text)
            names.append(load_preset(str(tmp_path / code.name)).name)
    assert len(names) >= 2
