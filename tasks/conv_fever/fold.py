"""
Builds one fold of Conv-FEVER from one file of Wizard of Wikipedia.

Conversations are parsed and written in chunks. A stopped build resumes where it
ended, and the fold gets its final name in one step when it is complete.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any, Iterator, Sequence

from tqdm import tqdm

from parlai_q2.io.write import ResumableWriter
from parlai_q2.perturb.entity_swap import EntityFinder
from parlai_q2.tasks.conv_fever.corpus import (
    FoldTexts,
    collect_texts,
    examples_of,
    texts_to_parse,
)
from parlai_q2.tasks.conv_fever.reader import PERTURBATIONS, ConvFeverExample
from parlai_q2.tasks.conv_fever.wow import Conversation, read_conversations
from parlai_q2.text.pipeline import pipeline, pipeline_name

# Conversations that are parsed together, and lost if the build is killed.
CHUNK = 64


def build_fold(source: Path, outfile: Path, recipe: dict[str, Any]) -> dict[str, Any]:
    """
    Build a fold, or resume a stopped build.

    :param source: a file of Wizard of Wikipedia.
    :param outfile: the JSON lines file to write; the record is written beside it.
    :param recipe: what determines the examples: ``seed``, and anything else that
        belongs in the record. A build with another recipe starts over.
    :return: the record: the recipe, the spaCy pipeline, and the counts.
    :raises RecordError: when the source is broken.
    :raises InputError: when the folder cannot be written, or another build has locked
        it.
    """
    # First, because the pipeline may be missing.
    pipeline()
    run = {**recipe, 'entities': pipeline_name()}
    writer = ResumableWriter(outfile, run)
    try:
        conversations = read_conversations(source)
        texts, finder = collect_texts(conversations), EntityFinder()
        first, counts = _resume(writer)
        with tqdm(
            desc=outfile.name,
            unit=' conversations',
            total=len(conversations),
            initial=first,
        ) as bar:
            for start in range(first, len(conversations), CHUNK):
                chunk = conversations[start : start + CHUNK]
                examples = list(_examples(chunk, texts, finder, str(recipe['seed'])))
                writer.write(example.to_dict() for example in examples)
                counts.update(e.perturbation for e in examples)
                bar.update(len(chunk))
        record = {
            **run,
            'conversations': len(conversations),
            'bytes': writer.part.stat().st_size,
            'counts': {name: counts[name] for name in PERTURBATIONS},
        }
        writer.finish(record)
    except BaseException:
        writer.close()
        raise
    return record


def _examples(
    chunk: Sequence[Conversation], texts: FoldTexts, finder: EntityFinder, seed: str
) -> Iterator[ConvFeverExample]:
    entities = finder.find(text for c in chunk for text in texts_to_parse(c))
    for conversation in chunk:
        yield from examples_of(conversation, texts, entities, seed)


def _resume(writer: ResumableWriter) -> tuple[int, Counter[str]]:
    """
    Drop the last conversation that a stopped build wrote, which may lack examples.

    :return: the conversation to resume with, and the counts of those before it.
    """
    counts, pending = Counter[str](), list[str]()
    episode = start = size = 0
    for line in writer.raw_lines():
        example = ConvFeverExample.from_dict(json.loads(line))
        if example.episode != episode:
            counts.update(pending)
            episode, start, pending = example.episode, size, []
        pending.append(example.perturbation)
        size += len(line)
    writer.keep(start)
    return episode, counts
