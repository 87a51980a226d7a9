"""
Damages converted models and loads them in a process that may crash:

    python -m tests.models.converted.damage 500

A model that is given by its path may be damaged: it is an error that names the folder,
or a score between 0 and 1, and never a crash.
"""

import json
import random
import shutil
import struct
import sys
import tempfile
from collections import Counter
from pathlib import Path

from transformers import BertForSequenceClassification

from parlai_q2.models.converted.convert import write_converted
from tests.files import run_python
from tests.tiny import tiny_pair_model, tiny_t5

LABELS = {'entailment': 0, 'neutral': 1, 'contradiction': 2}
TRY = f"""
import sys, json
from parlai_q2.errors import Q2Error
from parlai_q2.models.nli import SequenceNliModel
from parlai_q2.models.question_generation import Seq2SeqQuestionGenerator
from parlai_q2.presets import ModelConfig

for folder, kind in zip(sys.argv[1::2], sys.argv[2::2]):
    config = ModelConfig(folder)
    try:
        if kind == 'encoder':
            model = SequenceNliModel(config, labels={LABELS!r}, compute_type='int8')
            pairs = [('bees have five eyes', 'six eyes .'), ('wow', 'wow')]
            found = model.classify(pairs)
            assert all(0 <= p <= 1 for row in found for p in row), found
        else:
            generator = Seq2SeqQuestionGenerator(config, max_new_tokens=6)
            pairs = [('1983', 'the band formed in 1983'), ('wow', 'wow')]
            found = generator.generate(pairs)
            assert all(type(q) is str for row in found for q in row), found
        print('scored', flush=True)
    except Q2Error as e:
        assert folder in str(e) and '\\n' not in str(e), str(e)
        print('error', flush=True)
"""
NUMBERS = (0, 1, 2, 127, 255, 65535, 2**31 - 1, 2**32 - 1)


def make_models(place: Path) -> dict[str, Path]:
    """An encoder and an encoder-decoder, converted to int8, by their kinds."""
    tiny_pair_model(place / 'bert', BertForSequenceClassification, num_labels=3)
    (place / 't5').mkdir()
    tiny_t5(place / 't5')
    folders = {'encoder': place / 'encoder', 'seq2seq': place / 'seq2seq'}
    write_converted(str(place / 'bert'), folders['encoder'])
    write_converted(str(place / 't5'), folders['seq2seq'])
    for folder in folders.values():
        (folder / 'sha256.json').unlink()
    return folders


def damage(models: dict[str, Path], out: Path, seed: int) -> tuple[Path, str]:
    """A damaged copy of one of the models, and its kind."""
    rng = random.Random(seed)
    kind = rng.choice(sorted(models))
    shutil.copytree(models[kind], out)
    # Mostly the file that native code reads.
    other_files = sorted(p.name for p in out.iterdir() if p.name != 'model.bin')
    name = 'model.bin' if rng.random() < 0.75 else rng.choice(other_files)
    data = bytearray((out / name).read_bytes())
    how = rng.randrange(6)
    if how == 0:
        del data[rng.randrange(len(data)) :]
    elif how == 1:
        for _ in range(rng.choice([1, 1, 1, 8, 64])):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif how == 2:  # within the names, shapes and sizes
        marks = [i for i in range(len(data)) if data.startswith(b'coder/', i)]
        at = (rng.choice(marks) if marks else 0) + rng.randrange(-12, 70)
        at = min(max(at, 0), len(data) - 1)
        data[at] ^= 1 << rng.randrange(8)
    elif how == 3:
        at = rng.randrange(max(1, len(data) - 4))
        data[at : at + 4] = struct.pack('<I', rng.choice(NUMBERS))
    elif how == 4:
        at, to = sorted(rng.choices(range(len(data)), k=2))
        data[at:to] = rng.choice([b'', data[at:to] * 2, bytes(to - at)])
    else:  # a file of another model
        other = models['encoder' if kind == 'seq2seq' else 'seq2seq'] / name
        data = bytearray(other.read_bytes() if other.exists() else b'[]')
    (out / name).write_bytes(data)
    return out, kind


def tried(*models: tuple[Path, str]) -> list[str]:
    """``error`` or ``scored`` of each; at the end, what went wrong."""
    words = [str(word) for model in models for word in model]
    completed = run_python(TRY, *words, timeout=120)
    outcomes = completed.stdout.split()
    if completed.returncode == 0:
        return outcomes
    return [*outcomes, f'{completed.returncode}: {completed.stderr[-2000:]}']


def main(count: int, first: int = 0) -> None:
    """Damage this many, from a seed on."""
    with tempfile.TemporaryDirectory() as made:
        models = make_models(Path(made))
        results: Counter[str] = Counter()
        for seed in range(first, first + count):
            folder, kind = damage(models, Path(made) / str(seed), seed)
            *_, result = tried((folder, kind))
            if result not in ('error', 'scored'):
                print(seed, kind, result, flush=True)
                result = 'wrong'
            results[result] += 1
        print(json.dumps(results))


if __name__ == '__main__':
    main(*map(int, sys.argv[1:]))
