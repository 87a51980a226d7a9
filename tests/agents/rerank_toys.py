"""
What the tests of the reranking agent share: a scorer that counts its calls, tasks with
knowledge, and a generator that was trained for a few seconds to repeat its message.
"""

import random
import tempfile
from functools import cache
from pathlib import Path

import torch
from filelock import FileLock
from parlai.core.agents import create_agent
from parlai.core.loader import register_teacher
from parlai.core.message import Message
from parlai.core.params import ParlaiParser
from parlai.core.teachers import DialogTeacher

from tests.rerank.toys import ToyScorer

AGENT = 'parlai_q2.agents.grounded_rerank.grounded_rerank:GroundedRerankAgent'
TASK = 'rerank_toy'


MADE = ToyScorer.made
TOY = f'{__name__}:ToyScorer'


@register_teacher(TASK)
class ToyTeacher(DialogTeacher):
    """Says digits; so does the knowledge, which every third turn lacks."""

    def __init__(self, opt, shared=None):
        # ParlAI writes the number of examples beside the file.
        opt['datafile'] = f'{tempfile.mkdtemp()}/toy'
        super().__init__(opt, shared)
        self.id = TASK

    def setup_data(self, datafile):
        for n in range(10):
            text = f'{n % 7} {n % 5} {n % 3}'
            fields = {'text': text, 'labels': [text]}
            if n % 3 != 2:
                fields['knowledge'] = text
            # Two turns make an episode.
            yield fields, n % 2 == 0


@cache
def trained_generator() -> str:
    """The model file of a transformer that repeats four digits, trained once a run."""
    # The folder is the run's, which its workers share (tests/conftest.py).
    folder = Path(tempfile.gettempdir()) / 'trained_generator'
    model_file = folder / 'generator'
    with FileLock(f'{folder}.lock'):
        if not model_file.exists():
            folder.mkdir()
            train(str(model_file))
    return str(model_file)


def train(model_file: str) -> None:
    """Train it for a few seconds."""
    import parlai.utils.testing as testing

    random.seed(0)
    torch.manual_seed(0)
    testing.train_model(
        {
            'task': 'integration_tests:nocandidate',
            'model': 'transformer/generator',
            'model_file': model_file,
            'n_positions': 64,
            'n_layers': 1,
            'n_heads': 1,
            'embedding_size': 32,
            'ffn_size': 32,
            'dict_tokenizer': 'space',
            'batchsize': 32,
            'num_epochs': 20,
            'lr_scheduler': 'fixed',
            'learningrate': 7e-3,
            'optimizer': 'adamax',
            'validation_every_n_epochs': 100,
            'label_truncate': 8,
            'short_final_eval': True,
            'validation_max_exs': 8,
        }
    )


def make_agent(**options):
    """The reranking agent over the trained generator, with the toy scorer."""
    defaults = {'model': AGENT, 'choose': TOY, 'explain': 'none', 'no_cuda': True}
    # This generator is to repeat the message.
    defaults['guards'] = False
    if 'generator' not in options:
        defaults['model_file'] = trained_generator()
    opt = ParlaiParser(True, True).parse_kwargs(**{**defaults, **options})
    return create_agent(opt)


def reply_to(agent, *texts, knowledge='1 2 3 4', **fields):
    """The replies to a batch of messages, each the first of its episode."""
    if knowledge is not None:
        fields['knowledge'] = knowledge
    clones = [agent.clone() for _ in texts]
    rows = [
        clone.observe(Message({'text': text, 'episode_done': True, **fields}))
        for clone, text in zip(clones, texts, strict=True)
    ]
    replies = agent.batch_act(rows)
    for clone, reply in zip(clones, replies, strict=True):
        clone.self_observe(reply)
    return replies
