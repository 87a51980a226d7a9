"""
Writes the reference of the Python API, docs/reference/api.md, from docstrings::

    python docs/make_reference.py
"""

import inspect
import re
import sys
from enum import Enum
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

PAGE = ROOT / 'docs' / 'reference' / 'api.md'
INTRODUCTION = """\
<!-- Written by docs/make_reference.py: change the docstrings instead. -->

# Python API

`import parlai_q2` is fast, because models, torch and ParlAI are imported on first use.
Import the names of the sections up to "Errors" from `parlai_q2`. The names below are
for your own scorers, tasks, generators and documents. Import them from their modules.
All other names may change without notice.
"""
SECTIONS = {
    'Scorers': {'parlai_q2': 'load_scorer scorer_names release_models Scorer'},
    'Turns and scores': {
        'parlai_q2': 'Turn Example Passage Source Span Score Claim Evidence Label '
        'Status Stance Comparison Mistake MistakeKind'
    },
    'Reranking': {'parlai_q2': 'Reranker Candidate Ranking Pool Rule Reason'},
    'Presets and signatures': {'parlai_q2': 'load_preset Signature'},
    'Errors': {
        'parlai_q2': 'Q2Error InputError RecordError DocumentError ConfigError '
        'UnknownNameError ModelError ModelNotFoundError MissingPackageError '
        'ServerError TaskDataError WorkerError'
    },
    'What other pages import': {
        'parlai_q2.evaluate.sets': 'AnnotatedResponse AnnotatedSet',
        'parlai_q2.evaluate.evaluation': 'evaluate',
        'parlai_q2.rerank.ranking': 'Ranking.rows',
        'parlai_q2.rerank.guards': 'Guard',
        'parlai_q2.rerank.reward': 'GroundedReward',
        'parlai_q2.report.page': 'write_report',
        'parlai_q2.report.terminal': 'render_score',
        'parlai_q2.retrieve.retriever': 'Hit Retriever',
        'parlai_q2.parlai.q2_teacher': 'Q2TeacherMixin',
        'parlai_q2.parlai.generator': 'CandidateAgent',
        'parlai_q2.agents.grounded_rerank.metrics': 'compute_metrics',
    },
}
_FIELD = re.compile(r'^:(param|ivar|cvar|return|raises)\s*([\w*]*):\s*', re.M)
_ROLE = re.compile(r':\w+:`~?(?:[\w.]*\.)?(\w+)`')


def render_reference() -> str:
    """The page."""
    parts = [INTRODUCTION]
    for heading, modules in SECTIONS.items():
        parts.append(f'## {heading}\n')
        for module, names in modules.items():
            for name in names.split():
                parts += _describe(attrgetter(name)(import_module(module)), module)
    return '\n'.join(parts)


def _describe(thing: Any, module: str) -> list[str]:
    """A section for a class or a function."""
    lines = [f'### {thing.__qualname__}\n']
    if module != 'parlai_q2':
        lines.append(f'In `{module}`.\n')
    if not (inspect.isclass(thing) and issubclass(thing, (Enum, Exception))):
        lines.append(f'```\n{_sign(thing)}\n```\n')
    lines.append(_to_markdown(inspect.getdoc(thing) or ''))
    members = vars(thing).items() if inspect.isclass(thing) else ()
    rows = []
    for name, member in members:
        function = getattr(member, '__func__', getattr(member, 'fget', member))
        text = inspect.getdoc(function)
        if name.startswith('_') or not inspect.isfunction(function) or not text:
            continue
        signature = name if isinstance(member, property) else _sign(function)
        first = _to_markdown(text.partition('\n\n')[0])
        rows.append(f'- `{signature}`: {" ".join(first.split())}')
    if isinstance(thing, type) and issubclass(thing, Enum):
        rows = [f'- `{word.name}`: `{word.value}`' for word in thing]
    return [*lines, '\n'.join(rows) + '\n'] if rows else lines


def _sign(function: Any) -> str:
    """The call of a function by its parameters, without types."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        parameters = ()
    words = [
        str(parameter.replace(annotation=inspect.Parameter.empty))
        for parameter in parameters
        if parameter.name not in ('self', 'cls')
    ]
    return f'{function.__name__}({", ".join(words)})'


def _to_markdown(text: str) -> str:
    """A docstring's paragraphs, fields and examples as Markdown."""
    text = _ROLE.sub(r'`\1`', text).replace('``', '`')
    text = re.sub(r'::\n\n((?:    .*\n?|\n)+)', _fence, text + '\n')
    text = re.sub(r'\n {4,}(?=\S)', ' ', text)  # a field that goes on
    text = re.sub(r'^>>> (?:.+\n?)+', _fence_example, text, flags=re.M)
    return _FIELD.sub(_list_item, text).strip() + '\n'


def _fence_example(match: re.Match[str]) -> str:
    return f'```pycon\n{match[0].rstrip()}\n```'


def _list_item(match: re.Match[str]) -> str:
    kind, name = match[1], match[2]
    prefix = {'return': 'returns', 'raises': 'raises'}.get(kind, '')
    return '- ' + ' '.join(filter(None, [prefix, name and f'`{name}`'])) + ': '


def _fence(match: re.Match[str]) -> str:
    return f':\n\n```\n{inspect.cleandoc(match[1])}\n```\n'


if __name__ == '__main__':
    PAGE.write_text(render_reference(), encoding='utf-8')
