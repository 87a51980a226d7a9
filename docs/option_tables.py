"""
Writes the tables of options on the pages of agents from their parsers.

A page has a comment ``<!-- options: NAME -->`` where the table of an agent begins and
``<!-- end of options -->`` where it ends; what is between is written anew by

    python docs/option_tables.py

The options of scorers, which all agents share, are in the table of ``scorers`` alone.
"""

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from parlai.core.params import ParlaiParser

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

from parlai_q2.agents.chat_server.options import add_options as chat_server  # noqa: E402
from parlai_q2.agents.consistency.consistency import add_options as consistency  # noqa: E402
from parlai_q2.agents.ctranslate2.options import add_options as ctranslate2  # noqa: E402
from parlai_q2.agents.grounded_rerank.options import add_rerank_options  # noqa: E402
from parlai_q2.agents.hf_classifier.options import add_options as hf_classifier  # noqa: E402
from parlai_q2.agents.hf_seq2seq.options import add_options as hf_seq2seq  # noqa: E402
from parlai_q2.cli.scorer_options import add_scorer_options  # noqa: E402
from parlai_q2.scorers.roles import Role  # noqa: E402


def scorers(parser: ParlaiParser) -> None:
    """The options that all scorers have, for one role."""
    add_scorer_options(parser, Role.MEASURE)


TABLES: dict[str, Callable[[ParlaiParser], Any]] = {
    'chat_server': chat_server,
    'consistency': consistency,
    'ctranslate2': ctranslate2,
    'grounded_rerank': add_rerank_options,
    'hf_classifier': hf_classifier,
    'hf_seq2seq': hf_seq2seq,
    'scorers': scorers,
}
MARKED = re.compile(r'(<!-- options: (\w+) -->\n).*?(<!-- end of options -->)', re.S)
ROLES = tuple(f'--{role.value}' for role in Role)


def options_of(add: Callable[[ParlaiParser], Any]) -> dict[str, argparse.Action]:
    """The options that a function adds to ParlAI's parser, by their names."""
    parser = ParlaiParser(False, False)
    before = set(parser._actions)
    add(parser)
    return {
        next(o for o in action.option_strings if o.startswith('--')): action
        for action in parser._actions
        if action not in before and action.help != argparse.SUPPRESS
    }


def own_options(name: str) -> dict[str, argparse.Action]:
    """The options of a table: an agent's without those of all scorers."""
    found = options_of(TABLES[name])
    if name == 'scorers':
        return found
    shared = {*options_of(scorers)} - {'--measure'}
    alike = tuple(f'{role}-' for role in ROLES)
    return {
        option: action
        for option, action in found.items()
        if option not in shared and not option.startswith(alike)
    }


def table(name: str) -> str:
    """An agent's options, their defaults and what they are for, in Markdown."""
    rows = ['| option | default | |', '|---|---|---|']
    for option, action in own_options(name).items():
        text = re.sub(r'\s+', ' ', action.help or '').replace('|', '&#124;')
        # Pages link to them.
        text = re.sub(r': one of bertscore, .* or module:Class', '', text)
        rows.append(f'| `{option}` | {shown(action.default)} | {text} |')
    return '\n'.join(rows) + '\n'


def shown(default: Any) -> str:
    """A default as it is typed."""
    if default in (None, ''):
        return ''
    text = str(default).lower() if isinstance(default, bool) else str(default)
    return '(below)' if '\n' in text else f'`{text}`'


def renewed(page: str) -> str:
    """A page with its tables as the parsers say."""
    return MARKED.sub(lambda m: f'{m[1]}\n{table(m[2])}\n{m[3]}', page)


def main() -> None:
    """Renew all pages."""
    for path in sorted(DOCS.rglob('*.md')):
        page = path.read_text('utf-8')
        path.write_text(renewed(page), 'utf-8')


if __name__ == '__main__':
    main()
