"""
Conv-FEVER: does a response agree with its knowledge? (Santhanam et al. 2021, arXiv
2110.05456)

A corpus for training detectors, built from Wizard of Wikipedia: a wizard's replies with
the sentences they are based on, and the same replies perturbed in three ways. README.md
has the words that a task string may have.
"""

from parlai.core.message import Message
from parlai.core.metrics import AverageMetric
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.teachers import FixedDialogTeacher
from parlai.utils.data import DatatypeHelper
from parlai.utils.typing import TShared

from parlai_q2.claims import Label
from parlai_q2.errors import ConfigError, TaskDataError
from parlai_q2.evaluate.sets import narrow_words, select_words
from parlai_q2.io.knowledge import TOKEN_KNOWLEDGE
from parlai_q2.options import plain
from parlai_q2.parlai.task_strings import task_arguments
from parlai_q2.tasks.conv_fever.build import build
from parlai_q2.tasks.conv_fever.reader import (
    CONTEXT,
    ENTITY_SWAP,
    KNOWLEDGE,
    NEGATION,
    NONE,
    PERTURBATIONS,
    RESPONSE,
    ConvFeverExample,
    ExampleFile,
)
from parlai_q2.tasks.wizard_of_wikipedia.reader import SPLITS, TRAIN

CLASSES = (Label.CONSISTENT, Label.INCONSISTENT)
# The names of the perturbations in a task string.
WORDS = {Label.CONSISTENT if name == NONE else name: name for name in PERTURBATIONS}
GROUPS = {
    'kind': [*WORDS],
    'changed text': (RESPONSE, KNOWLEDGE, CONTEXT),
    'split': SPLITS,
}


class ClassificationTeacher(FixedDialogTeacher):
    """
    Shows knowledge and response, after the conversation if ``--show-context`` says so;
    the label is the response's class.
    """

    # The words that apply when the task string has none; empty for all examples.
    words: tuple[str, ...] = ()

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Opt | None = None
    ) -> ParlaiParser:
        """Add ``--show-context``."""
        super().add_cmdline_args(parser, partial_opt)
        parser.add_argument_group('Conv-FEVER').add_argument(
            '--show-context',
            type='bool',
            default=False,
            help='show the conversation before knowledge and response, and also the '
            'examples in which it was perturbed',
        )
        return parser

    def __init__(self, opt: Opt, shared: TShared | None = None):
        self._with_context = bool(opt.get('show_context'))
        self._examples = shared['conv_fever'] if shared else self._open(opt)
        super().__init__(opt, shared)
        self.reset()

    def _open(self, opt: Opt) -> ExampleFile:
        words = task_arguments(opt.get('task', ''))
        words = narrow_words(type(self).__name__, self.words, words, GROUPS)
        chosen = select_words('conv_fever', words, GROUPS)
        if len(chosen['split']) > 1:
            raise ConfigError(
                f'{opt["task"]} names both splits of Wizard of Wikipedia. Name '
                'one, or give two tasks separated by a comma.'
            )
        fold = DatatypeHelper.fold(opt['datatype'])
        if fold != TRAIN:
            fold = f'{fold}_{(chosen["split"] or SPLITS)[0]}'
        perturbations = [WORDS[word] for word in chosen['kind']]
        if CONTEXT in chosen['changed text'] and not self._with_context:
            raise ConfigError(
                'Examples whose context was perturbed need it shown: '
                '--show-context true'
            )
        path = build(opt, fold)
        examples = ExampleFile(
            path, perturbations, chosen['changed text'], self._with_context
        )
        if not len(examples):
            raise TaskDataError(
                f'{path} has no example of {" ".join(words) or "any kind"}'
                + ('' if self._with_context else ' whose context was not perturbed')
                + '. Ask for another kind.'
            )
        return examples

    def share(self) -> TShared:
        return {**super().share(), 'conv_fever': self._examples}

    def num_examples(self) -> int:
        return len(self._examples)

    def num_episodes(self) -> int:
        return len(self._examples)

    def get(self, episode_idx: int, entry_idx: int = 0) -> Message:
        return self.message(self._examples[episode_idx])

    def message(self, example: ConvFeverExample) -> Message:
        """Return the message of an example in this view."""
        context = example.context if self._with_context else ()
        fields = {
            'id': self.id,
            'text': '\n'.join([*context, example.knowledge, example.response]),
            'labels': [example.label],
            'label_candidates': list(CLASSES),
            'episode_done': True,
            'chosen_topic': example.topic,
            'title': example.title,
            'checked_sentence': example.knowledge,
            'knowledge': f'{example.title} {TOKEN_KNOWLEDGE} {example.knowledge}',
            'context': '\n'.join(example.context),
            'response': example.response,
            'q2_label': example.label,
            'perturbation': example.perturbation,
            'perturbed': example.perturbed,
            'before': example.before,
            'after': example.after,
        }
        return Message(plain(fields))

    def custom_evaluation(
        self,
        teacher_action: Message,
        labels: tuple[str] | None,
        model_response: Message,
    ) -> None:
        """Report the accuracy on each perturbation, e.g. ``negation_accuracy``."""
        if labels and model_response.get('text') is not None:
            kind = teacher_action['perturbation']
            name = Label.CONSISTENT if kind == NONE else kind
            right = model_response['text'].strip().lower() in labels
            self.metrics.add(f'{name}_accuracy', AverageMetric(int(right)))


class DefaultTeacher(ClassificationTeacher):
    """The classification view of all examples."""


class NegationTeacher(ClassificationTeacher):
    words = (NEGATION,)


class EntitySwapTeacher(ClassificationTeacher):
    words = (ENTITY_SWAP,)
