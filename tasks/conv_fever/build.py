"""
Builds Conv-FEVER from Wizard of Wikipedia, whose files ParlAI downloads: for each fold
a JSON lines file in ``<datapath>/conv_fever``, with a record beside it (version, seed,
spaCy pipeline, counts). A fold that was built elsewhere can be placed there.
"""

import json
from collections import Counter
from itertools import chain
from pathlib import Path

import parlai.utils.logging as logging
from parlai.core.opt import Opt
from tqdm import tqdm

from parlai_q2.errors import InputError, RecordError, TaskDataError
from parlai_q2.io.files import locked
from parlai_q2.io.write import ResumableWriter, locate_summary
from parlai_q2.json_values import JsonObject
from parlai_q2.perturb.entity_swap import EntityFinder
from parlai_q2.tasks.conv_fever.corpus import (
    consistent_examples,
    make_examples,
    texts_to_parse,
)
from parlai_q2.tasks.conv_fever.reader import (
    ENTITY_SWAP,
    NEGATION,
    NONE,
    PERTURBATIONS,
    RANDOM_PAIRING,
    ConvFeverExample,
)
from parlai_q2.tasks.wizard_of_wikipedia.build import build as build_wow
from parlai_q2.tasks.wizard_of_wikipedia.reader import TRAIN, read_wizard_conversations
from parlai_q2.text.pipeline import pipeline_name

VERSION = '1.2'
SEED = 2021
# Conversations that are parsed together, and lost if the build is killed.
CHUNK = 64
# Seconds to wait while another process downloads and builds.
PATIENCE_SECONDS = 3600.0
# The paper's counts (Santhanam et al. 2021, the table of Conv-FEVER's sizes), compared
# with those of the published training file, which has this many conversations.
PAPER = {NONE: 68_957, RANDOM_PAIRING: 137_914, NEGATION: 107_845, ENTITY_SWAP: 73_178}
PUBLISHED_CONVERSATIONS = 18_430
# A count that differs from the paper's by more than this share is worth a warning.
TOLERANCE = 0.05


def build(opt: Opt, fold: str, seed: int = SEED) -> Path:
    """
    Return the file of a fold with this seed, built if needed; a TaskDataError if Wizard
    of Wikipedia is not available or the folder cannot be written.
    """
    folder = Path(opt['datapath']) / 'conv_fever'
    outfile = folder / f'{fold}.jsonl'
    source = Path(opt['datapath']) / 'wizard_of_wikipedia' / f'{fold}.json'
    if is_built(outfile, seed, source):
        return outfile
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Other processes may build the same fold, for instance in one evaluation.
        with locked(folder, PATIENCE_SECONDS, needed=False):
            if not is_built(outfile, seed, source):
                if not source.is_file():
                    build_wow(opt, [source.name])
                logging.info(f'Building {outfile} from {source}. This is done once.')
                report(build_fold(source, outfile, seed))
    except RecordError as e:
        raise TaskDataError(
            f'{e}. Delete {source.parent} to have Wizard of Wikipedia downloaded again.'
        ) from e
    except (InputError, OSError) as e:
        raise TaskDataError(f'Cannot write {outfile}: {e.__cause__ or e}.') from e
    return outfile


def is_built(outfile: Path, seed: int, source: Path) -> bool:
    """
    Whether a fold is complete, and of this version, seed and (if it exists) source.
    """
    try:
        record = json.loads(locate_summary(outfile).read_text(encoding='utf-8'))
        expected: JsonObject = {'version': VERSION, 'seed': seed}
        expected['bytes'] = outfile.stat().st_size
    except (OSError, ValueError):
        return False
    if source.is_file():
        expected['source_bytes'] = source.stat().st_size
    return all(record.get(name) == value for name, value in expected.items())


def build_fold(source: Path, outfile: Path, seed: int) -> JsonObject:
    """
    Build a fold from a file of Wizard of Wikipedia, or resume a stopped build; return
    its record.

    :raises RecordError: for a broken source.
    :raises InputError: when the file cannot be written.
    """
    run = {
        'version': VERSION,
        'fold': outfile.stem,
        'seed': seed,
        'source': source.name,
        'source_bytes': source.stat().st_size,
        # This comes first, because the pipeline may be missing.
        'entities': pipeline_name(),
    }
    conversations = read_wizard_conversations(source)
    of_fold = [*chain.from_iterable(map(consistent_examples, conversations))]
    finder = EntityFinder()
    writer = ResumableWriter(outfile, run)
    try:
        first, counts = _resume(writer)
        with tqdm(
            desc=outfile.name,
            unit=' conversations',
            total=len(conversations),
            initial=first,
        ) as bar:
            for start in range(first, len(conversations), CHUNK):
                chunk = conversations[start : start + CHUNK]
                entities = finder.find(chain.from_iterable(map(texts_to_parse, chunk)))
                examples: list[ConvFeverExample] = []
                for conversation in chunk:
                    examples += make_examples(
                        conversation, of_fold, entities, str(seed)
                    )
                writer.write(example.to_dict() for example in examples)
                counts.update(example.perturbation for example in examples)
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


def _resume(writer: ResumableWriter) -> tuple[int, Counter[str]]:
    """
    Return the conversation at which a stopped build resumes, and the counts of those
    before it. The last written conversation, which may be incomplete, is dropped.
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


def report(record: JsonObject) -> None:
    """Log a fold's counts, and how far the training fold's are from the paper's."""
    counts = record['counts']
    listed = ', '.join(f'{n:,} {name}' for name, n in counts.items())
    logging.info(
        f'Conv-FEVER {record["fold"]}: {listed} ({record["conversations"]:,} '
        f'conversations, seed {record["seed"]}, {record["entities"]}).'
    )
    if (record['fold'], record['conversations']) != (TRAIN, PUBLISHED_CONVERSATIONS):
        return
    far = {name: (counts[name] - paper) / paper for name, paper in PAPER.items()}
    beside = '; '.join(
        f'{name}: {counts[name]:,}, in the paper {paper:,} ({100 * far[name]:+.1f} %)'
        for name, paper in PAPER.items()
    )
    if any(abs(share) > TOLERANCE for share in far.values()):
        logging.warning(f'Counts are not near the paper. {beside}.')
    else:
        logging.info(f'Counts are near the paper. {beside}.')
