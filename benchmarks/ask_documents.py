"""
Asks the reranking agent what ``tests/retrieve/faqs/*.jsonl`` ask, each of the documents
that it names, and prints the replies, to be judged by reading.

    python -m benchmarks.ask_documents [QUESTIONS.jsonl ...] [options of the agent]
"""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import parlai
from parlai.core.agents import Agent, create_agent
from parlai.core.params import ParlaiParser
from parlai.utils import logging

from parlai_q2.retrieve.build import build

AGENT = 'parlai_q2.agents.grounded_rerank.grounded_rerank:GroundedRerankAgent'
FAQS = Path(__file__).parents[1] / 'tests' / 'retrieve' / 'faqs'
PARLAI = Path(parlai.__file__).parent
# What documents are called in files of questions, where it is not their file beside:
# ours, and others' on this machine: files, or a package whose description it is.
DOCUMENTS = {
    'docs': ['docs'],
    'manuals': [
        'sacrebleu',
        f'{PARLAI}/chat_service/README.md',
        f'{PARLAI}/crowdsourcing/tasks/acute_eval/README.md',
        '/usr/share/doc/base-passwd/users-and-groups.html',  # Debian's
    ],
    'tools': ['GitPython', 'accelerate'],
    'guides': [
        'smart_open',
        'rich',
        f'{PARLAI}/agents/rag/README.md',
        '/usr/share/doc/dpkg/spec/triggers.txt',
    ],
}


def load_agent(documents: str, folder: Path, options: Sequence[str]) -> Agent:
    """The agent that replies from documents, with their index in a folder."""
    paths = DOCUMENTS.get(documents) or [str(next(FAQS.glob(f'{documents}.[!j]*')))]
    with tempfile.TemporaryDirectory() as copies:
        build([_find_or_write(path, Path(copies)) for path in paths], folder)
    arguments = ['-m', AGENT, '--knowledge-index', str(folder), '--explain', 'none']
    return create_agent(ParlaiParser(True, True).parse_args([*arguments, *options]))


def _find_or_write(name: str, folder: Path) -> str:
    """The file of a document; a description is written to one."""
    if Path(name).exists():
        # Files called README do not say what they are about.
        path = Path(name)
        if path.name != 'README.md':
            return name
        copy = folder / f'{path.parent.name}.md'
        copy.write_text(path.read_text(encoding='utf-8'), encoding='utf-8')
        return str(copy)
    copy = folder / f'{name}.md'
    copy.write_text(str(metadata(name).json['description']), encoding='utf-8')
    return str(copy)


def first_source(reply: Any) -> str:
    """The first passage that a reply rests on: its file and heading."""
    knowledge = reply.get('rerank_knowledge')
    rows = knowledge if isinstance(knowledge, list) else []
    source = rows[0].get('source', {}) if rows and isinstance(rows[0], dict) else {}
    return f'{source.get("file", "")} > {source.get("heading", "")}'


def main(arguments: Sequence[str]) -> None:
    """Ask all questions of files, and print replies and counts."""
    logging.set_log_level('ERROR')
    files = [name for name in arguments if name.endswith('.jsonl')]
    options = [name for name in arguments if not name.endswith('.jsonl')]
    questions = list[dict[str, Any]]()
    for path in files or sorted(map(str, FAQS.glob('*.jsonl'))):
        lines = Path(path).read_text(encoding='utf-8').splitlines()
        questions += map(json.loads, lines)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for documents in dict.fromkeys(row['documents'] for row in questions):
            agent = load_agent(documents, Path(folder, documents), options)
            for row in questions:
                if row['documents'] == documents:
                    _ask(agent, row, counts)
    for name, count in counts.items():
        print(f'{count:4} {name}')


def _ask(agent: Agent, row: Mapping[str, Any], counts: Counter[str]) -> None:
    agent.reset()
    agent.observe({'text': row['question'], 'episode_done': False})
    reply = agent.act()
    reason = next(c for c in reply['rerank'] if c['chosen'])['reason']
    file, first = row.get('file') or row.get('heading') or '', first_source(reply)
    kind = 'answerable' if row['answers'] else 'unanswerable'
    name = f'{row["documents"]}, {kind}'
    counts[name] += 1
    counts[f'{name}: declined'] += reason.startswith('nothing')
    counts[f'{name}: passage first'] += bool(file and file in first)
    print(f'{row["documents"]} | {row["question"]} | {row["answers"]} | {file}')
    text = ' / '.join(reply['text'].splitlines())
    print(f'    => {text}\n    [{reason}] {first}', flush=True)


if __name__ == '__main__':
    main(sys.argv[1:])
