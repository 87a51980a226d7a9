"""
Says whether responses are consistent with their knowledge, as a ParlAI classifier.

    parlai eval_model -m parlai_q2.agents.consistency.consistency:ConsistencyAgent \\
        -t parlai_q2.tasks.grounded_sample.agents:ClassificationTeacher

The answer is one of the task's own class names. By default the shipped detector
answers; ``--scorer`` and ``--preset`` choose another scorer. Each batch is scored in
one call. Nothing is trained; for a classifier that you can train, see
``agents/hf_classifier``.
"""

from typing import Any, Mapping, Optional, Sequence

from parlai.core.agents import Agent
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_classifier_agent import AUCMetrics
from parlai.utils import logging
from parlai.utils.misc import round_sigfigs, warn_once

from parlai_q2.cli.scorer_options import add_scorer_options, scorer_from_opt
from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.parlai.classification import (
    HOW_TO_ASK,
    Pair,
    add_class_map,
    class_metrics,
    find_pair,
    need_pair,
    true_class,
)
from parlai_q2.records import Example, Score
from parlai_q2.scorers.base import Scorer
from parlai_q2.text.class_map import (
    FINDINGS,
    ClassMap,
    choose,
    finding_probabilities,
    has_findings,
    map_classes,
    parse_class_map,
)

DEFAULT_SCORER = 'consistency'
# The classes to answer with where neither the task nor --classes names any.
OWN_CLASSES = ('consistent', 'inconsistent', 'generic')


class ConsistencyAgent(Agent):
    """
    Answers with the class that a scorer finds.

    Its messages carry ``consistency``: the scorer's ``score``, ``label`` and ``parts``,
    and the ``probabilities`` by class.
    """

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Optional[Opt] = None
    ) -> ParlaiParser:
        """Add the scorer's options and those of a classifier."""
        return add_options(parser)

    def __init__(self, opt: Opt, shared: Optional[dict[str, Any]] = None):
        super().__init__(opt, shared)
        self.id = 'Consistency'
        if shared:
            self.scorer: Scorer = shared['scorer']
            self._aucs: Aucs = shared['aucs']
            self._maps: dict[tuple[str, ...], ClassMap] = shared['class_maps']
            return
        check_options(opt)
        self.scorer = scorer_from_opt({'scorer': DEFAULT_SCORER, **opt})
        self._aucs = Aucs(opt)
        self._maps = {}
        logging.info(f'Responses are classified with {self.scorer.signature}')

    def share(self) -> dict[str, Any]:
        """Share the scorer: its models are loaded once."""
        return {
            **super().share(),
            'scorer': self.scorer,
            'aucs': self._aucs,
            'class_maps': self._maps,
        }

    def act(self) -> Message:
        """Classify the last observation."""
        return self.batch_act([self.observation])[0]

    def batch_act(self, observations: list[Optional[Message]]) -> list[Message]:
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
            pair = self._pair(message)
            if pair is None:
                replies[i]['text'] = HOW_TO_ASK
            else:
                pairs[i] = pair
        scores = self.scorer.score([Example(*pair) for pair in pairs.values()])
        for i, score in zip(pairs, scores, strict=True):
            self._answer(observations[i], score, replies[i])
        return replies

    def _pair(self, message: Message) -> Optional[Pair]:
        if self.opt.get('interactive_mode'):
            return find_pair(message)
        return need_pair(message)

    def _answer(self, message: Any, score: Score, reply: Message) -> None:
        classes = self._class_map(message)
        outputs = finding_probabilities(score, classes)
        probabilities = classes.probabilities(outputs)
        chosen = choose(outputs, classes, self._threshold(score))
        answer = classes.classes[chosen]
        reply['text'] = answer
        reply['consistency'] = {
            'score': score.value,
            'label': score.label,
            'parts': dict(score.parts),
            'probabilities': dict(zip(classes.classes, probabilities)),
        }
        true = true_class(message)
        if true is not None:
            self._count(answer, true, classes, probabilities, reply)
        if self.opt.get('print_scores'):
            reply['class_list'] = list(classes.classes)
            reply['probs'] = probabilities
            if true is None:
                # Worded as ParlAI's own classifiers word it.
                probability = round_sigfigs(probabilities[chosen], 4)
                reply.force_set(
                    'text',
                    f'Predicted class: {answer}\nwith probability: {probability}',
                )

    def _count(
        self,
        answer: str,
        true: str,
        classes: ClassMap,
        probabilities: list[float],
        reply: Message,
    ) -> None:
        if true not in classes.classes:
            raise UnknownNameError('class (a label of the task)', true, classes.classes)
        metrics = class_metrics([answer], [true], classes.classes)
        reply['metrics'] = {name: values[0] for name, values in metrics.items()}
        if self.calc_auc:
            self._aucs.add(true, dict(zip(classes.classes, probabilities)))

    def _threshold(self, score: Score) -> Optional[float]:
        given = self.opt.get('threshold')
        if given is not None:
            return given
        if not has_findings(score):
            return self.scorer.threshold
        if self.opt.get('scorer_threshold') is not None:
            raise ConfigError(
                f'The scorer {self.scorer.name!r} gives class probabilities, so '
                'this agent does not read --scorer-threshold. Use --threshold '
                'instead.'
            )
        return None

    def _class_map(self, message: Message) -> ClassMap:
        names = self.opt.get('classes') or message.get('label_candidates')
        classes = tuple(map(str, names or OWN_CLASSES))
        if classes not in self._maps:
            given = parse_class_map(self.opt.get('class_map'))
            self._maps[classes] = map_classes(FINDINGS, classes, given)
            for name in self._maps[classes].without_output:
                warn_once(
                    f'No output of the scorer stands for the class {name!r}, so '
                    'it is never answered. Use --class-map to give it one: '
                    f'{", ".join(FINDINGS)}.'
                )
        return self._maps[classes]

    # What eval_model -auc reads from a classifier.

    @property
    def calc_auc(self) -> bool:
        """Whether ``-auc`` was given."""
        return self._aucs.digits > 0

    @property
    def class_list(self) -> tuple[str, ...]:
        """The classes of the task that was seen last."""
        return self._aucs.classes

    @property
    def auc_class_indices(self) -> list[int]:
        """The classes whose areas are counted."""
        return self._aucs.indices

    @property
    def aucs(self) -> list[Any]:
        """The areas counted so far."""
        return self._aucs.metrics

    def reset_auc(self) -> None:
        """Start counting areas afresh."""
        self._aucs.reset()


def add_options(parser: ParlaiParser) -> ParlaiParser:
    """
    Add ``--classes``, ``--class-map``, ``--threshold``, ``--print-scores``,
    ``--no-cuda``, ``--gpu`` and the scorer's options.

    :param parser: the parser, changed in place.
    :return: the same parser.
    """
    group = parser.add_argument_group('Consistency Agent')
    group.add_argument(
        '--classes',
        type=str,
        nargs='*',
        default=None,
        help="the names of the classes; default: the task's label candidates, or "
        'consistent, inconsistent and generic where it has none',
    )
    add_class_map(group)
    group.add_argument(
        '--threshold',
        type=float,
        default=None,
        help='answer the class of consistent responses if its probability, in [0, 1], '
        'is above this; default: the likeliest class, or, for a scorer without '
        "class probabilities, the scorer's own threshold",
    )
    group.add_argument(
        '--print-scores',
        type='bool',
        default=False,
        help='in chat, also say the probability of the answer, and put class_list and '
        'probs in the message',
    )
    # Named as in ParlAI's torch agents; the scorer follows them.
    group.add_argument(
        '--no-cuda',
        action='store_true',
        default=False,
        help='compute on the CPU, even if there is a GPU',
    )
    group.add_argument('--gpu', type=int, default=-1, help='which GPU; -1 for any')
    return add_scorer_options(parser, scorer=DEFAULT_SCORER)


def check_options(opt: Mapping[str, Any]) -> None:
    """
    Check the threshold in ``opt``.

    :raises ConfigError: when it is out of range, or both kinds of threshold are given.
    """
    threshold = opt.get('threshold')
    if threshold is None:
        return
    if not 0 <= threshold <= 1:
        raise ConfigError(
            f'--threshold must be a probability in [0, 1], not {threshold}.'
        )
    if opt.get('scorer_threshold') is not None:
        raise ConfigError('Give either --threshold or --scorer-threshold, not both.')


class Aucs:
    """
    Counts answers for the areas under the ROC curve that ``eval_model -auc 3`` asks of
    a classifier; one instance serves all copies of an agent.
    """

    def __init__(self, opt: Mapping[str, Any]):
        self.digits = opt.get('area_under_curve_digits') or -1
        self.wanted: Sequence[str] = opt.get('area_under_curve_class') or ()
        self.classes: tuple[str, ...] = ()
        self.metrics: list[AUCMetrics] = []

    def add(self, label: str, probabilities: Mapping[str, float]) -> None:
        """Count one answer, by its true class and the probability of each class."""
        if self.classes != tuple(probabilities):
            self.classes = tuple(probabilities)
            self.reset()
        for metric in self.metrics:
            name = metric._class_name
            metric.update_raw([label], [probabilities[name]], name)

    def reset(self) -> None:
        """
        Start counting afresh.

        :raises UnknownNameError: when ``area_under_curve_class`` names an unknown
            class.
        """
        for name in self.wanted:
            if self.classes and name not in self.classes:
                raise UnknownNameError('class', name, self.classes)
        names = [c for c in self.classes if c in (self.wanted or self.classes)]
        self.metrics = [
            AUCMetrics(name, max_bucket_dec_places=self.digits) for name in names
        ]

    @property
    def indices(self) -> list[int]:
        """The indices of the classes that are counted."""
        return [self.classes.index(metric._class_name) for metric in self.metrics]
