"""
Makes BEGIN-Adversarial by generation, as its paper does (Dziri et al. 2022, section
4.2)::

    python -m parlai_q2.tasks.begin.begin_adversarial --infile turns.jsonl \\
        --outfile made.jsonl

- ``consistent``: the reply that a person gave.
- ``inconsistent``: a generator's reply to the same conversation after one thing in its
  knowledge was changed (:mod:`parlai_q2.perturb.knowledge`), labelled against the
  original knowledge; and off-topic replies, which people gave in other conversations
  about the same topic.
- ``generic``: the generator's reply without knowledge, at a temperature of 0.4.

Replies with knowledge are kept if they share at least a quarter of their words with it
and do not speak in the first person. The generator is any ParlAI agent, by name; the
paper's was GPT-2, fine-tuned on Wizard of Wikipedia.
"""

import copy
import random
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from parlai.core.agents import create_agent
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_q2.claims import Label
from parlai_q2.cli.log import run_module
from parlai_q2.errors import InputError, UnknownNameError
from parlai_q2.io.knowledge import TOKEN_KNOWLEDGE
from parlai_q2.io.read import read_valid
from parlai_q2.io.write import writable
from parlai_q2.json_values import JsonObject
from parlai_q2.options import split_names
from parlai_q2.parlai.distillation import replies
from parlai_q2.perturb.knowledge import KnowledgeChanges
from parlai_q2.tasks.begin.perturbed import write_examples
from parlai_q2.text.overlap import token_overlap
from parlai_q2.turns import Turn

SHIPPED = 'parlai_q2.agents.hf_seq2seq.hf_seq2seq:HfSeq2seqAgent'
CHANGES = ('entity', 'pronoun', 'negation', 'antonym', 'sibling')
HUMAN, OFF_TOPIC, GENERIC = 'human', 'off_topic', 'generic'
KINDS = (HUMAN, *CHANGES, OFF_TOPIC, GENERIC)
# The field with the conversation's topic; without it, the knowledge's title is the
# topic.
TOPICS = ('topic', 'chosen_topic', 'title')
LEAST_SHARED = 0.25
TEMPERATURE = 0.4
BATCH = 8
FIRST_PERSON = re.compile(
    r"\b(?:i|i['’]\w+|me|my|mine|myself|we|we['’]\w+|us|our|ours|ourselves)\b",
    re.IGNORECASE,
)


class Answered(NamedTuple):
    """A person's reply with its history and knowledge; the topic is in lower case."""

    knowledge: str
    reply: str
    history: tuple[str, ...] = ()
    topic: str = ''


class GeneratedRecord(NamedTuple):
    """
    An example for a classifier, and the words changed in the generator's knowledge.
    """

    knowledge: str
    response: str
    label: str
    kind: str
    before: str = ''
    after: str = ''


class ReplyAgent:
    """A ParlAI agent that replies, perhaps by nucleus sampling at a temperature."""

    def __init__(self, opt: Opt, temperature: float | None = None):
        opt = copy.deepcopy(opt)
        if temperature is not None:
            opt['override'] = {
                **opt.get('override', {}),
                'inference': 'nucleus',
                'temperature': temperature,
            }
            opt.update(opt['override'])
        self.batch = max(1, int(opt.get('batchsize') or 1))
        self.agent = create_agent(opt, requireModelExists=bool(opt.get('model_file')))

    def replies(self, turns: Sequence[Turn]) -> list[str]:
        """Return one reply to each turn, in order."""
        episodes = ([build_message(turn)] for turn in turns)
        acts = chain.from_iterable(replies(self.agent, episodes, self.batch))
        return [str(act.get('text') or '').strip() for act in acts]


def build_message(turn: Turn) -> JsonObject:
    """Build the message of a turn in the form of Wizard of Wikipedia's teacher."""
    message: JsonObject = {
        'id': 'begin',
        'text': '\n'.join(turn.history),
        'episode_done': True,
    }
    if turn.knowledge_text:
        message['checked_sentence'] = turn.knowledge_text
        message['knowledge'] = f'{TOKEN_KNOWLEDGE} {turn.knowledge_text}'
    return message


def read_answered(path: Path) -> list[Answered]:
    """Read the records with knowledge and a response; InputError if there are none."""
    turns = []
    for record, example in read_valid(path):
        named = [str(record.fields.get(name) or '') for name in TOPICS]
        titles = [passage.title for passage in example.knowledge]
        topic = next(filter(None, (*named, *titles)), '').lower()
        knowledge = example.knowledge_text
        if knowledge.strip() and example.response.strip():
            turns.append(Answered(knowledge, example.response, example.history, topic))
    if not turns:
        raise InputError(f'{path} has no record with knowledge and a response.')
    return turns


def is_kept(knowledge: str, reply: str) -> bool:
    """Whether a reply shares a quarter of its words, and avoids the first person."""
    shared = token_overlap(knowledge, reply).precision
    return shared >= LEAST_SHARED and not FIRST_PERSON.search(reply)


class GeneratedExamples:
    """
    Makes examples from turns; the seed decides all choices except the generator's own.

    :param generator: replies to turns with knowledge; ``generic`` replies without it.
        None if no chosen kind needs it.
    :param arrived: whether a reply to changed knowledge must have the change.
    """

    def __init__(
        self,
        turns: Sequence[Answered],
        generator: ReplyAgent | None = None,
        generic: ReplyAgent | None = None,
        seed: int = 0,
        arrived: bool = False,
    ):
        self.turns, self.seed, self.arrived = turns, seed, arrived
        self.generator, self.generic = generator, generic

    def make(self, kinds: Sequence[str]) -> Iterator[GeneratedRecord]:
        """
        Make all examples of the chosen kinds, kind by kind.

        :raises UnknownNameError: for an unknown kind.
        """
        for kind in kinds:
            if kind not in KINDS:
                raise UnknownNameError('kind of example', kind, KINDS)
        for turn in self.turns if HUMAN in kinds else ():
            if is_kept(turn.knowledge, turn.reply):
                yield GeneratedRecord(
                    turn.knowledge, turn.reply, Label.CONSISTENT, HUMAN
                )
        yield from self._perturbed([kind for kind in CHANGES if kind in kinds])
        if OFF_TOPIC in kinds:
            yield from self._off_topic()
        if GENERIC in kinds:
            assert self.generic is not None
            replies = self.generic.replies([Turn('', t.history) for t in self.turns])
            for turn, reply in zip(self.turns, replies, strict=True):
                if reply:
                    yield GeneratedRecord(turn.knowledge, reply, Label.GENERIC, GENERIC)

    def _perturbed(self, kinds: Sequence[str]) -> Iterator[GeneratedRecord]:
        if not kinds:
            return
        assert self.generator is not None
        changes = KnowledgeChanges([t.knowledge for t in self.turns], self.seed)
        for kind in kinds:
            perturbed_turns = [
                (turn, change)
                for turn in self.turns
                if (change := changes.change(turn.knowledge, kind)) is not None
            ]
            replies = self.generator.replies(
                [Turn(change.text, turn.history) for turn, change in perturbed_turns]
            )
            for (turn, change), reply in zip(perturbed_turns, replies, strict=True):
                arrived = change.after.lower() in reply.lower()
                if is_kept(turn.knowledge, reply) and (arrived or not self.arrived):
                    yield GeneratedRecord(
                        turn.knowledge,
                        reply,
                        Label.INCONSISTENT,
                        kind,
                        before=change.before,
                        after=change.after,
                    )

    def _off_topic(self) -> Iterator[GeneratedRecord]:
        by_topic: dict[str, list[Answered]] = {}
        for turn in self.turns:
            if turn.topic:
                by_topic.setdefault(turn.topic, []).append(turn)
        for turn in self.turns:
            candidates = [
                other.reply
                for other in by_topic.get(turn.topic, ())
                if other.knowledge != turn.knowledge
                and other.history[:1] != turn.history[:1]
            ]
            if candidates:
                draw = random.Random(f'{self.seed} {turn.knowledge} {turn.reply}')
                reply = draw.choice(candidates)
                yield GeneratedRecord(
                    turn.knowledge, reply, Label.INCONSISTENT, OFF_TOPIC
                )


def run(arguments: Sequence[str] | None = None) -> dict[str, int]:
    """Write the examples of a file, and return how many of each kind were made."""
    parser = ParlaiParser(True, True, 'Make BEGIN-Adversarial with a generator')
    group = parser.add_argument_group('BEGIN-Adversarial')
    group.add_argument(
        '--infile', required=True, help='records as score reads them, with a topic'
    )
    group.add_argument('--outfile', required=True, help='JSON lines file to write')
    group.add_argument(
        '--kinds', default=','.join(KINDS), help='comma-separated kinds of examples'
    )
    group.add_argument('--seed', type=int, default=0, help='random seed')
    group.add_argument(
        '--only-arrived',
        type='bool',
        default=False,
        help='keep a reply to changed knowledge only if the changed words are in it; '
        'the paper keeps the others, too, some of which the knowledge supports',
    )
    parser.set_params(model=SHIPPED, batchsize=BATCH, datatype='valid')
    opt = parser.parse_args(arguments)
    infile, outfile = Path(opt['infile']), Path(opt['outfile'])
    writable(outfile, infile)
    turns, kinds = read_answered(infile), split_names(opt['kinds'])
    generator = ReplyAgent(opt) if set(CHANGES) & set(kinds) else None
    generic = ReplyAgent(opt, TEMPERATURE) if GENERIC in kinds else None
    maker = GeneratedExamples(
        turns, generator, generic, opt['seed'], opt['only_arrived']
    )
    return write_examples(outfile, list(maker.make(kinds)))


if __name__ == '__main__':
    run_module(run)
