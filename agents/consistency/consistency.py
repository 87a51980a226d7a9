"""
A ParlAI classifier of responses as consistent with their knowledge or not, which
answers with the task's own class names.

By default the shipped detector answers; ``--measure`` and ``--preset`` choose another
scorer. Nothing is trained; ``agents/hf_classifier`` is a classifier that can be.
"""

from functools import cache
from typing import Any

from parlai.core.agents import Agent
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.utils import logging
from parlai.utils.misc import round_sigfigs, warn_once
from parlai.utils.typing import TShared

from parlai_q2.claims import Score
from parlai_q2.cli.scorer_options import add_scorer_options, scorer_from_opt
from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.filtering.judge import read_labels
from parlai_q2.options import plain
from parlai_q2.parlai.classification import (
    HOW_TO_ASK,
    Pair,
    add_class_map,
    class_metrics,
    find_pair,
    need_pair,
)
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.roles import Role
from parlai_q2.text.class_map import (
    ClassMap,
    Finding,
    choose,
    finding_probabilities,
    has_findings,
    map_classes,
    parse_class_map,
)
from parlai_q2.turns import Example

DEFAULT_SCORER = 'consistency'
# The classes to answer with if neither the task nor --classes names any.
OWN_CLASSES = ('consistent', 'inconsistent', 'generic')


class ConsistencyAgent(Agent):
    """
    Answers with the class that a scorer finds.

    Its messages carry ``consistency``: the scorer's ``score``, ``label`` and ``parts``,
    and the ``probabilities`` by class.
    """

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Opt | None = None
    ) -> ParlaiParser:
        """Add the scorer's options and those of a classifier."""
        return add_options(parser)

    def __init__(self, opt: Opt, shared: TShared | None = None):
        super().__init__(opt, shared)
        self.id = 'Consistency'
        if shared:
            self.scorer: Scorer = shared['scorer']
            return
        self.scorer = scorer_from_opt(opt, default=DEFAULT_SCORER)
        logging.info(f'Responses are classified with {self.scorer.signature}')

    def share(self) -> TShared:
        """Share the scorer: its models are loaded once."""
        return {**super().share(), 'scorer': self.scorer}

    def act(self) -> Message:
        """Classify the last observation."""
        return self.batch_act([self.observation])[0]

    def batch_act(self, observations: list[Message | None]) -> list[Message]:
        """
        Classify a batch in one call of the scorer.

        :param observations: B messages; padding and None get an empty answer.
        :return: B messages.
        """
        replies = [
            Message({'id': self.id, 'episode_done': False}) for _ in observations
        ]
        pairs: dict[int, Pair] = {}
        for i, message in enumerate(observations):
            if not message or message.get('batch_padding'):
                continue
            is_chat = self.opt.get('interactive_mode')
            pair = find_pair(message) if is_chat else need_pair(message)
            if pair is None:
                replies[i]['text'] = HOW_TO_ASK
            else:
                pairs[i] = pair
        scores = self.scorer.score([Example(*pair) for pair in pairs.values()])
        for i, score in zip(pairs, scores, strict=True):
            self._answer(observations[i], score, replies[i])
        return replies

    def _answer(self, message: Any, score: Score, reply: Message) -> None:
        classes = self._class_map(message)
        outputs = finding_probabilities(score, classes)
        probabilities = classes.probabilities(outputs)
        chosen = choose(outputs, classes, self._threshold(score))
        answer = classes.classes[chosen]
        reply['text'] = answer
        evidence = {
            'score': score.value,
            'label': score.label,
            'parts': dict(score.parts),
            'probabilities': dict(zip(classes.classes, probabilities)),
        }
        reply['consistency'] = plain(evidence)
        labels = read_labels(message)
        if self.opt.get('interactive_mode'):
            # The same wording as in ParlAI's own classifiers.
            probability = round_sigfigs(probabilities[chosen], 4)
            prediction = f'Predicted class: {answer}\nwith probability: {probability}'
            reply.force_set('text', prediction)
        elif labels:
            if labels[0] not in classes.classes:
                what = 'class (a label of the task)'
                raise UnknownNameError(what, labels[0], classes.classes)
            metrics = class_metrics([answer], [labels[0]], classes.classes)
            reply['metrics'] = {name: values[0] for name, values in metrics.items()}

    def _threshold(self, score: Score) -> float | None:
        if not has_findings(score):
            return self.scorer.threshold
        if self.opt.get('measure_threshold') is not None:
            raise ConfigError(
                f'The scorer {self.scorer.name!r} gives class probabilities, of which '
                'this agent takes the likeliest. Leave out --measure-threshold.'
            )
        return None

    def _class_map(self, message: Message) -> ClassMap:
        names = self.opt.get('classes') or message.get('label_candidates')
        classes = tuple(map(str, names or OWN_CLASSES))
        return _map_findings(classes, self.opt.get('class_map'))


@cache
def _map_findings(classes: tuple[str, ...], option: str | None) -> ClassMap:
    """Map the findings of scorers to classes; warn of a class that has none."""
    class_map = map_classes(tuple(Finding), classes, parse_class_map(option))
    for name in class_map.without_output:
        warn_once(
            f'No output of the scorer stands for the class {name!r}, so it is never '
            f'predicted. Use --class-map to give it one: {", ".join(Finding)}.'
        )
    return class_map


def add_options(parser: ParlaiParser) -> ParlaiParser:
    """Add ``--classes``, ``--class-map`` and the scorer's options to a parser."""
    group = parser.add_argument_group('Consistency Agent')
    group.add_argument(
        '--classes',
        type=str,
        nargs='*',
        default=None,
        help="the names of the classes; default: the task's label candidates, or "
        'consistent, inconsistent and generic if it has none',
    )
    add_class_map(group)
    return add_scorer_options(parser, Role.MEASURE, default=DEFAULT_SCORER)
