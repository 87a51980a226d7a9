"""
Asks the reranking agent what ``faqs/*.jsonl`` ask, each of the documents that it names,
and prints the replies, to be judged by reading.

``python -m tests.retrieve.ask``, from the project's root; other files of questions, and
options of the agent, may be given.
"""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import parlai
from parlai.core.agents import Agent, create_agent
from parlai.core.params import ParlaiParser
from parlai.utils import logging

from parlai_q2.retrieve.build import build

AGENT = 'parlai_q2.agents.grounded_rerank.grounded_rerank:GroundedRerankAgent'
FAQS = Path(__file__).parent / 'faqs'
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


def agent_of(documents: str, folder: Path, options: Sequence[str]) -> Agent:
    """The agent that replies from documents, with their index in a folder."""
    paths = DOCUMENTS.get(documents) or [str(next(FAQS.glob(f'{documents}.[!j]*')))]
    with tempfile.TemporaryDirectory() as made:
        build([_written(one, Path(made)) for one in paths], folder)
    asked = ['-m', AGENT, '--knowledge-index', str(folder), '--explain', 'none']
    return create_agent(ParlaiParser(True, True).parse_args([*asked, *options]))


def _written(name: str, folder: Path) -> str:
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
    copy.write_text(str(metadata(name).get_payload()), encoding='utf-8')
    return str(copy)


def first_of(reply: Any) -> str:
    """The first passage that a reply rests on: its file and heading."""
    knowledge = reply.get('rerank_knowledge')
    rows = knowledge if isinstance(knowledge, list) else []
    source = rows[0].get('source', {}) if rows and isinstance(rows[0], dict) else {}
    return f'{source.get("file", "")} > {source.get("heading", "")}'


def main(arguments: Sequence[str]) -> None:
    """Ask all questions of files, and print replies and counts."""
    logging.set_log_level('ERROR')
    files = [one for one in arguments if one.endswith('.jsonl')]
    options = [one for one in arguments if not one.endswith('.jsonl')]
    paths = files or sorted(str(one) for one in FAQS.glob('*.jsonl'))
    asked = [json.loads(line) for one in paths for line in open(one, encoding='utf-8')]
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for documents in dict.fromkeys(one['documents'] for one in asked):
            agent = agent_of(documents, Path(folder, documents), options)
            for one in (one for one in asked if one['documents'] == documents):
                agent.reset()
                agent.observe({'text': one['question'], 'episode_done': False})
                reply = agent.act()
                chosen = next(row for row in reply['rerank'] if row['chosen'])
                wanted = one.get('file') or one.get('heading') or ''
                first, said = first_of(reply), ' / '.join(reply['text'].splitlines())
                declined = 'answers the question' in chosen['reason'] and (
                    chosen['reason'].startswith('nothing')
                )
                kind = 'answerable' if one['answers'] else 'unanswerable'
                counts[f'{documents}, {kind}'] += 1
                counts[f'{documents}, {kind}: declined'] += declined
                counts[f'{documents}, {kind}: passage first'] += bool(
                    wanted and wanted in first
                )
                print(f'{documents} | {one["question"]} | {one["answers"]} | {wanted}')
                print(f'    => {said}\n    [{chosen["reason"]}] {first}', flush=True)
    for name, count in counts.items():
        print(f'{count:4} {name}')


if __name__ == '__main__':
    main(sys.argv[1:])
