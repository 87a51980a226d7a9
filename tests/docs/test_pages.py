"""
What the pages say beside their commands: links lead somewhere, every option of an agent
is named, presets can be loaded, and a chat's help is shown as it is.
"""

import argparse
import re

import pytest
from parlai.core.params import ParlaiParser

from parlai_q2.agents.chat_server.options import add_options as chat_server
from parlai_q2.agents.consistency.consistency import add_options as consistency
from parlai_q2.agents.grounded_rerank.commands import HELP
from parlai_q2.agents.grounded_rerank.options import add_rerank_options
from parlai_q2.agents.hf_classifier.options import add_options as hf_classifier
from parlai_q2.agents.hf_seq2seq.options import add_options as hf_seq2seq
from parlai_q2.cli.commands import COMMANDS, parser_of
from parlai_q2.presets import load_preset
from tests.docs.code_in_docs import ROOT, code_of, pages

AGENTS = {
    'chat_server': chat_server,
    'consistency': consistency,
    'grounded_rerank': add_rerank_options,
    'hf_classifier': hf_classifier,
    'hf_seq2seq': hf_seq2seq,
}
# Documented with the scorers.
SHARED = ('--scorer-', '--cache', '--preset', '--detector')


def text_of(page: str) -> str:
    return (ROOT / 'docs' / page).read_text('utf-8')


def test_every_link_leads_somewhere():
    found = [
        (page, link)
        for page in pages()
        for link in re.findall(r'\]\((?!http)([^)#]+)\)', page.read_text('utf-8'))
    ]
    assert len(found) > 100
    assert [(p, link) for p, link in found if not (p.parent / link).exists()] == []


@pytest.mark.parametrize('agent', AGENTS)
def test_a_page_names_every_option_of_its_agent(agent):
    parser = ParlaiParser(False, False)
    before = set(parser._option_string_actions)
    AGENTS[agent](parser)
    added = {
        name
        for name, action in parser._option_string_actions.items()
        if name not in before and action.help != argparse.SUPPRESS
    }
    own = {o for o in added if o.startswith('--') and not o.startswith(SHARED)}
    page = text_of(f'agents/{agent}.md')
    assert own and {option for option in own if f'`{option}' not in page} == set()


def test_the_page_on_meta_evaluation_names_only_options_that_there_are():
    told = set(re.findall(r'`(--[a-z-]+)', text_of('meta_eval.md')))
    assert told and told <= set(parser_of(COMMANDS['meta_eval'])._option_string_actions)


def test_every_preset_on_a_page_is_one(tmp_path):
    names = []
    for code in (code for page in pages() for code in code_of(page)):
        if code.name.endswith('.yaml') and '\nname: ' in code.text:
            (tmp_path / code.name).write_text(code.text)
            names.append(load_preset(str(tmp_path / code.name)).name)
    assert len(names) >= 4


def test_the_page_of_the_reranker_shows_the_commands_of_a_chat_as_help_does():
    assert HELP in text_of('agents/grounded_rerank.md')
